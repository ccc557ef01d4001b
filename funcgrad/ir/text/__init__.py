"""Programs as text: printed, read back, and written as source of NumPy. Knows no evaluation."""
