"""Bayesian networks of noisy tables: rows drawn column by column, each given its parents."""
