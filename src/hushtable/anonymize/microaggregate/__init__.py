"""Microaggregation: groups of at least k records, each replaced by what it has in common."""
