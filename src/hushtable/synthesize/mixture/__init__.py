"""Mixtures of records: rows from noisy sums over many records, with a complete proof."""
