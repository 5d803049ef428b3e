"""What the free text of a release is still good for."""
