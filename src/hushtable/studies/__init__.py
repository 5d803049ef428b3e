"""Bundled data, the data sets of the benchmarks, and what runs them."""
