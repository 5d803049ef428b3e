"""Generative adversarial networks: one game of a generator and a critic, with slots for loss, condition, penalties and networks.

``gan`` is the step and its model; ``constraints`` reads public constraints; all other modules import PyTorch.
"""
