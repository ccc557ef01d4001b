"""Recording: the tracer, the recorder it writes to, array protocols, and the primitive base classes."""
