"""Mathematics that knows neither people nor budgets."""
