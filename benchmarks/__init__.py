"""Benchmarks: ours against the named peers, in the same run, on the same rows."""
