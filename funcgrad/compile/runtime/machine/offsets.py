"""Where things lie in CPython's and NumPy's objects, and the words of the run time's own tables."""

from __future__ import annotations

import sys

# Objects. All words are 64 bits; a build of CPython without its lock is laid out otherwise and not supported.
OBJECT_TYPE = 8
OBJECT_VALUE = 16  # of a float, a complex number, and a NumPy scalar
TUPLE_ITEMS = tuple.__basicsize__

# NumPy's PyArrayObject and PyArray_Descr, unchanged since 1.7.
ARRAY_DATA, ARRAY_RANK, ARRAY_DIMENSIONS, ARRAY_DESCR, ARRAY_FLAGS = 16, 24, 32, 56, 64
DESCR_ORDER, DESCR_NUMBER = 26, 28
ARRAY_IS_PLAIN = 0x101  # C-contiguous and aligned
ARRAY_IS_WRITEABLE = 0x400
FOREIGN_ORDER = ord(">" if sys.byteorder == "little" else "<")

# The kinds of input, as `layout.Accept` numbers them.
ACCEPT_ARRAY, ACCEPT_NUMPY_SCALAR, ACCEPT_FLOAT, ACCEPT_INT, ACCEPT_BOOL, ACCEPT_COMPLEX = 1, 2, 4, 8, 16, 32

# How a number is stored.
F64, F32, SIGNED, UNSIGNED, BOOL, UNSTORABLE = 1, 2, 3, 4, 5, 6

# How an output is made.
ARRAY, SCALAR, DONATED = 0, 1, 2

# The descriptor of a call.
ENTRY, INPUT_COUNT, OUTPUT_COUNT, SLOTS, CONSTANT_SLOTS, SIZES = 0, 8, 16, 24, 32, 40
SCRATCH_BYTES, SCRATCH_COUNT, SCRATCH, IS_LONG, IS_SINGLE, FALLBACK = 48, 56, 64, 72, 80, 88
INPUTS, OUTPUTS, RUNTIME, HAS_DONORS = 96, 104, 112, 120
CONSTANT_COUNT, CONSTANT_RANGES = 128, 136
MAY_STOP = 144
DESCRIPTOR = 152

# Why a kernel was left, as `layout.Left` numbers it.
LEFT_INTERRUPTED, LEFT_NO_MEMORY = 1, 2

# A record describes an input (slot, accept, dtype number, rank, shape, scalar type, storage, bytes) or an
# output (slot, mode, dtype, rank, shape, bytes, donor).
RECORD = 64

# What all calls share.
RUNTIME_ARRAY_TYPE, RUNTIME_FLOAT_TYPE, RUNTIME_INT_TYPE, RUNTIME_COMPLEX_TYPE = 0, 8, 16, 24
RUNTIME_TRUE, RUNTIME_FALSE, RUNTIME_NOT_IMPLEMENTED = 32, 40, 48
RUNTIME_NEW_ARRAY, RUNTIME_NEW_SCALAR, RUNTIME_SET_HANDLER = 56, 64, 72
RUNTIME_HANDLER, RUNTIME_POOL = 80, 88
RUNTIME_WORDS = 12

# Outputs of at least this many bytes come from the pool; smaller ones from NumPy's own memory.
LARGE = 1 << 16
# Scratch memory of at most this many bytes is of the stack.
LARGEST_ON_STACK = 1 << 14

# Where a loop asks for signals, and what that needs: nanoseconds between two looks with Python's lock.
SIGNALS_POLL, SIGNALS_MAIN_THREAD, SIGNALS_NEXT, SIGNALS_CLOCK, SIGNALS_NEXT_OF_OTHERS = 0, 8, 16, 24, 32
SIGNALS_WORDS = 5
SIGNALS_BETWEEN = 20000000

# The pool of threads: each word that many threads write has a cache line of its own.
POOL_OWNED, POOL_GENERATION, POOL_NEXT, POOL_INSIDE, POOL_OPEN, POOL_SLEEPERS = 0, 128, 256, 384, 512, 640
# The job, and what Python sets: the number of threads wanted, and how a signal mask is extended and restored.
POOL_STAGE, POOL_TABLE, POOL_NUMBERS, POOL_END, POOL_GRAIN = 768, 776, 784, 792, 800
POOL_WORKERS, POOL_WANTED, POOL_BLOCK_SIGNALS = 896, 904, 912
POOL_MUTEX, POOL_CONDITION = 1024, 1280
POOL_BYTES = 1536

# How often a worker looks for the next job before it sleeps: some twenty microseconds.
SPINS = 1000
SPINS_BEFORE_YIELD = 200
