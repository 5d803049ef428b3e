"""Attacks by neural networks: a contrastive encoder of partly known records, and densities by a normalizing flow.

The networks need PyTorch (the extra ``neural``). They are trained where they are first used, on the release alone, and
the modules that import PyTorch are imported only then.
"""
