"""The nearest-neighbour search for mixed tables that all audits share."""
