"""Anonymizers that are differentially private, and one that only claims to be."""
