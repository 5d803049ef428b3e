"""Anonymizers that are differentially private."""
