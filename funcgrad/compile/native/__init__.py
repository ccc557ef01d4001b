"""The run-time half of the compiler: emitted source to object code, its cache, and its native call.

Knows nothing of Programs: works on source text, symbols, shapes and dtypes.
"""
