"""Attacks on the free text of a release."""
