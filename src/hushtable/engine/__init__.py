"""The questions of a vault answered where the rows are: on disk by DuckDB, on a cluster by Spark. Imports ``table`` alone."""
