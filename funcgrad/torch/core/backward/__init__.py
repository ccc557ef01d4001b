"""Histories and the backward pass through them."""
