"""Running machine code: callers, threads, signals, the disk cache, BLAS, and when Programs are compiled."""
