"""Adversarial networks: a generator of rows against a critic that distinguishes them from real ones."""
