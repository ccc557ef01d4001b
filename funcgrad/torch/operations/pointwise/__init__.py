"""Functions of elements, and the operators of tensors."""
