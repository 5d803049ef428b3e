"""Synthesizers kept to show that a published proof fails."""
