"""Audits: a release attacked and measured, on the rows it saw and on rows it did not."""
