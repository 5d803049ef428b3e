"""Ways to share one table, side by side: what each promises, what attacks gain, what it is still good for, and which to take."""

from hushtable.api.compare.comparison import Comparison
from hushtable.api.compare.run import compare

__all__ = ["Comparison", "compare"]
