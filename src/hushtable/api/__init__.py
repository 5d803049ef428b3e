"""One file for each verb: what a command does, as a Python function."""
