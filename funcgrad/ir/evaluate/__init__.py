"""Programs run with NumPy: walked, in memory used again, and handed up where they are hot."""
