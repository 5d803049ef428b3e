"""Published studies repeated: one file for each, on one runner."""
