"""The parts of the screen Audit: its verdict, and what its tabs show."""
