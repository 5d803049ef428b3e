"""Style and script of the studio: files, no code."""
