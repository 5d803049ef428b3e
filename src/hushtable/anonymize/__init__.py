"""Anonymizers: cores that release the table itself, generalized, averaged, masked or sampled."""
