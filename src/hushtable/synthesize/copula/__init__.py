"""Margins joined by a copula."""
