"""Synthesizers: cores that learn a model and release rows drawn from it."""
