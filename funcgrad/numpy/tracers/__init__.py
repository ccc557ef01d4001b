"""How NumPy's, Python's and other libraries' functions find ours where they are given a tracer."""
