"""Coders: invertible steps that change how rows are written."""
