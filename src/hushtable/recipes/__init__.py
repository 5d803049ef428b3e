"""The published methods as recipes: a YAML file each."""
