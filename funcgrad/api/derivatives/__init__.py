"""Derivatives of functions: gradients, products with Jacobians, whole Jacobians and Hessians."""
