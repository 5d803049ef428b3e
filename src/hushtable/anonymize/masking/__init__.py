"""Masking: values changed or exchanged at random. None of it is a guarantee."""
