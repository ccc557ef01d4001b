"""Reductions over all or some dimensions."""
