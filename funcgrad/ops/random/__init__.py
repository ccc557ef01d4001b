"""Random draws by counters, and how samples move with their parameters."""
