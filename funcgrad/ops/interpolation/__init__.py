"""Curves through points: broken lines and splines."""
