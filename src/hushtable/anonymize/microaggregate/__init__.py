"""Microaggregation: groups of at least k records, each replaced by its centre."""
