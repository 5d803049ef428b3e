"""Synthesizers that measure marginals with noise and estimate a distribution from them."""
