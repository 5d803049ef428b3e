"""From generalized cells back to ordinary values."""
