"""What a Tensor is: its value, its history, views and in-place changes, and the backward pass."""
