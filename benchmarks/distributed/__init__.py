"""What `fg.distribute` costs: overhead of a step, a large fit, and how both grow, measured and simulated."""
