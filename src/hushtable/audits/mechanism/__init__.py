"""Audits of a mechanism: whether a recipe keeps the epsilon it states, on tables made to show that it does not.

An audit refutes a claim or bounds epsilon from below. Passing one proves nothing.
"""
