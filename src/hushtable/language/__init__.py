"""Private language models: free text written, classified and filled in under one budget.

A model of language is a folder that somebody has: nothing here reaches a network, runs code of a checkpoint, or opens a pickle.
"""
