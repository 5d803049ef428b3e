"""Audits of a mechanism: whether a recipe satisfies the epsilon it states, on tables made to show where it does not.

An audit refutes a claim or bounds epsilon from below. Passing one proves nothing.
"""
