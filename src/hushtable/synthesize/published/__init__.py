"""Synthesizers as they were published, kept to show that their privacy proof fails; each names its certified twin."""
