"""The words of the run time's own tables: where they lie, and what their numbers mean."""

from __future__ import annotations

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
KEPT_RESULTS, KEPT_TURN = 152, 160
DESCRIPTOR = 168

# Why a kernel was left, as `layout.Left` numbers it.
LEFT_INTERRUPTED, LEFT_NO_MEMORY = 1, 2

# A record describes an input or an output.
RECORD = 64
INPUT_SLOT, INPUT_ACCEPT, INPUT_DTYPE_NUMBER, INPUT_RANK, INPUT_SHAPE = 0, 8, 16, 24, 32
INPUT_SCALAR_TYPE, INPUT_STORAGE, INPUT_BYTES = 40, 48, 56
OUTPUT_SLOT, OUTPUT_MODE, OUTPUT_DESCR, OUTPUT_RANK, OUTPUT_SHAPE = 0, 8, 16, 24, 32
OUTPUT_BYTES, OUTPUT_DONOR = 40, 48

# A part of scratch memory, and the memory of a constant; the number that a call makes room for.
PART, PART_SLOT, PART_OFFSET = 16, 0, 8
RANGE, RANGE_BEGIN, RANGE_END = 16, 0, 8
CELL = 16

# What all calls share.
RUNTIME_ARRAY_TYPE, RUNTIME_FLOAT_TYPE, RUNTIME_INT_TYPE, RUNTIME_COMPLEX_TYPE = 0, 8, 16, 24
RUNTIME_TRUE, RUNTIME_FALSE, RUNTIME_NOT_IMPLEMENTED = 32, 40, 48
RUNTIME_NEW_ARRAY, RUNTIME_NEW_SCALAR, RUNTIME_SET_HANDLER = 56, 64, 72
RUNTIME_HANDLER, RUNTIME_POOL = 80, 88
RUNTIME_WORDS = 12

# The descriptor of a call with structures, and a record of a container: its table of objects has all leaves
# first, then the containers; places in it are counted in bytes.
STRUCTURE_CALL, STRUCTURE_LEAVES, STRUCTURE_TABLE_BYTES = 0, 8, 16
STRUCTURE_TAKEN, STRUCTURE_TAKEN_COUNT, STRUCTURE_MADE, STRUCTURE_MADE_COUNT = 24, 32, 40, 48
STRUCTURE_RESULTS, STRUCTURE_OTHERWISE, STRUCTURE_NOT_IMPLEMENTED = 56, 64, 72
STRUCTURE_TUPLE_TYPE, STRUCTURE_STR_TYPE, STRUCTURE_INT_TYPE, STRUCTURE_BYTES_TYPE = 80, 88, 96, 104
STRUCTURE_BYTES = 112
CONTAINER_BYTES = 64
CONTAINER_KIND, CONTAINER, CONTAINER_TYPE, CHILDREN_COUNT, CHILDREN = 0, 8, 16, 24, 32
KNOWN_KEYS, PLACES_OF_KEYS = 40, 48
TEMPLATE, ENTRIES, FILLER = 40, 48, 56
OF_LEAF, OF_NONE, OF_TUPLE, OF_LIST, OF_DICT = 0, 1, 2, 3, 4

# Outputs of at least this many bytes come from the pool; smaller ones from NumPy's own memory.
LARGE = 1 << 16
# So many arrays in one result are kept for the next calls, if all of them have at most so many bytes.
KEPT_FROM, KEPT_BYTES = 16, 1 << 15
# Scratch memory of at most this many bytes is of the stack.
LARGEST_ON_STACK = 1 << 14

# Where a loop asks for signals, and what that needs: nanoseconds between two looks with Python's lock.
SIGNALS_POLL, SIGNALS_MAIN_THREAD, SIGNALS_NEXT, SIGNALS_CLOCK, SIGNALS_NEXT_OF_OTHERS = 0, 8, 16, 24, 32
SIGNALS_POLL_OF_STAGES, SIGNALS_IS_SET = 40, 48
SIGNALS_WORDS = 7
SIGNALS_BETWEEN = 20000000

# The pool of threads: each word that many threads write has a cache line of its own.
POOL_OWNED, POOL_GENERATION, POOL_TAKEN, POOL_INSIDE, POOL_OPEN, POOL_SLEEPERS = 0, 128, 256, 384, 512, 640
# The job, and what Python sets: the number of threads wanted, and how a signal mask is extended and restored.
POOL_STAGE, POOL_TABLE, POOL_NUMBERS, POOL_BEGIN, POOL_END, POOL_GRAIN = 768, 776, 784, 792, 800, 808
POOL_WORKERS, POOL_WANTED, POOL_BLOCK_SIGNALS = 896, 904, 912
POOL_MUTEX, POOL_CONDITION = 1024, 1280
POOL_FROM_END = 1536
# Where the caller runs; addresses in C or zero: `sched_getcpu`, and what asks for affinity and sets it.
POOL_CALLERS_PROCESSOR, POOL_PROCESSOR, POOL_AFFINITY, POOL_SET_AFFINITY = 1664, 1672, 1680, 1688
POOL_BYTES = 1792

# How often a worker looks for the next job before it sleeps: some twenty microseconds.
SPINS = 1000
SPINS_BEFORE_YIELD = 200
