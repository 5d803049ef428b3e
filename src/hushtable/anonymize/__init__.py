"""Anonymizers: cores whose release is the table itself, changed until it hides people."""
