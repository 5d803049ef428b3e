"""What a table is: a public schema, private rows, hierarchies, and how tables are read and written."""
