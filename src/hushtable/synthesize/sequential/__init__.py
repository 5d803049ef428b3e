"""Sequential synthesis: one column after another."""
