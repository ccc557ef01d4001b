"""Random draws, and how samples move with their parameters."""
