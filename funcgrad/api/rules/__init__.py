"""Functions that say how they are differentiated, and what they keep."""
