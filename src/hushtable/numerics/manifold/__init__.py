"""Manifold learning: rows as points, their neighbourhood graph, distances along it, and embeddings that keep them."""
