"""Rows from averages of many records: mixtures of records, as published and with a proof."""
