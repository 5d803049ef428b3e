"""Steps, recipes, plans, runs and releases."""
