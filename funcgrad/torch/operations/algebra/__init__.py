"""Products, factors and covariances."""
