"""The privacy calculus: units, events, the vault and its ledger, guarantees, and criteria measured on tables."""
