"""Tensors made: from data, filled, drawn, converted, copied."""
