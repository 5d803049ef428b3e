"""The bundled table and loaders of others."""
