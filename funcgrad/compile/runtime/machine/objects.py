"""Where things lie in CPython's and NumPy's objects.

Nothing promises these numbers: `object_probe` compares every one of them with what Python says before the
first call, and a number that is used by machine code belongs here so that it is compared.
"""

from __future__ import annotations

import sys

# All words are 64 bits; a build of CPython without its lock is laid out otherwise and not supported.
OBJECT_COUNT = 0  # of references: its lower half, which is all of it from Python 3.12 on
OBJECT_TYPE = 8
OBJECT_VALUE = 16  # of a float, a NumPy scalar, and the real part of a complex number
OBJECT_IMAGINARY = 24
TUPLE_ITEMS = tuple.__basicsize__
SEQUENCE_LENGTH = 16  # of a tuple or a list
LIST_ITEMS = 24  # where its items lie
DICT_KEYS = 32  # where its keys and values lie

# NumPy's PyArrayObject and PyArray_Descr, unchanged since 1.7.
ARRAY_DATA, ARRAY_RANK, ARRAY_DIMENSIONS, ARRAY_BASE, ARRAY_DESCR, ARRAY_FLAGS = 16, 24, 32, 48, 56, 64
ARRAY_WEAK = 72  # the first weak reference
DESCR_ORDER, DESCR_NUMBER = 26, 28
ARRAY_IS_PLAIN = 0x101  # C-contiguous and aligned
ARRAY_IS_WRITEABLE = 0x400
FOREIGN_ORDER = ord(">" if sys.byteorder == "little" else "<")
