"""The call of compiled code: checks arguments, makes results, runs the code. One function serves all layouts.

``me`` is a tuple whose first item is an array of integers, the descriptor; `caller` writes it and says what
its words mean. Objects are read at the offsets of CPython's and NumPy's stable layouts.
"""

from __future__ import annotations

from funcgrad.compile.runtime.machine.offsets import (
    ACCEPT_ARRAY,
    ACCEPT_BOOL,
    ACCEPT_COMPLEX,
    ACCEPT_FLOAT,
    ACCEPT_INT,
    ARRAY_DATA,
    ARRAY_DESCR,
    ARRAY_DIMENSIONS,
    ARRAY_FLAGS,
    ARRAY_IS_PLAIN,
    ARRAY_IS_WRITEABLE,
    ARRAY_RANK,
    BOOL,
    CONSTANT_COUNT,
    CONSTANT_RANGES,
    CONSTANT_SLOTS,
    DESCR_NUMBER,
    DESCR_ORDER,
    DONATED,
    ENTRY,
    F32,
    F64,
    FALLBACK,
    FOREIGN_ORDER,
    HAS_DONORS,
    INPUT_COUNT,
    INPUTS,
    IS_LONG,
    IS_SINGLE,
    LARGE,
    LARGEST_ON_STACK,
    LEFT_INTERRUPTED,
    LEFT_NO_MEMORY,
    MAY_STOP,
    OBJECT_TYPE,
    OBJECT_VALUE,
    OUTPUT_COUNT,
    OUTPUTS,
    RECORD,
    RUNTIME,
    RUNTIME_ARRAY_TYPE,
    RUNTIME_COMPLEX_TYPE,
    RUNTIME_FALSE,
    RUNTIME_FLOAT_TYPE,
    RUNTIME_HANDLER,
    RUNTIME_INT_TYPE,
    RUNTIME_NEW_ARRAY,
    RUNTIME_NEW_SCALAR,
    RUNTIME_NOT_IMPLEMENTED,
    RUNTIME_POOL,
    RUNTIME_SET_HANDLER,
    RUNTIME_TRUE,
    SCALAR,
    SCRATCH,
    SCRATCH_BYTES,
    SCRATCH_COUNT,
    SIGNED,
    SIZES,
    SLOTS,
    TUPLE_ITEMS,
    UNSIGNED,
)
from funcgrad.compile.runtime.machine.pool import pool_give, pool_take
from funcgrad.compile.runtime.machine.words import (
    decrement,
    increment,
    long_value,
    memcpy,
    new_array,
    new_scalar,
    new_tuple,
    no_memory,
    peek,
    peek_f64,
    peek_i32,
    peek_u8,
    poke,
    poke_f32,
    poke_f64,
    poke_i16,
    poke_i32,
    poke_u8,
    restore_thread,
    run_kernel,
    run_stoppable,
    save_thread,
    set_handler,
    set_item,
    stack_space,
    vectorcall,
)


def call(me: int, arguments: int, count: int) -> int:
    """What CPython calls (``METH_FASTCALL``): a new reference to the result, or zero and an exception."""
    d = peek(peek(me + TUPLE_ITEMS) + ARRAY_DATA)
    runtime = peek(d + RUNTIME)
    inputs = peek(d + INPUT_COUNT)
    if count != inputs:
        return refused(d, runtime, arguments, count)
    slots = peek(d + SLOTS)
    outputs = peek(d + OUTPUT_COUNT)
    table = stack_space(8 * slots + 16 * (inputs + outputs) + 8 * outputs + 8)
    cells = table + 8 * slots + 8 * (slots & 1)
    made = cells + 16 * (inputs + outputs)
    if peek(d + CONSTANT_SLOTS) != 0:
        memcpy(table, peek(d + CONSTANT_SLOTS), 8 * slots)
    record = peek(d + INPUTS)
    for k in range(inputs):
        address = input_address(runtime, record, peek(arguments + 8 * k), cells + 16 * k)
        if address == 0:
            return refused(d, runtime, arguments, count)
        poke(table + 8 * peek(record), address)
        record += RECORD
    if peek(d + HAS_DONORS) != 0 and not donors_are_free(d, table, arguments):
        return refused(d, runtime, arguments, count)
    if not make_outputs(d, runtime, table, arguments, cells + 16 * inputs, made):
        return 0
    left = run(d, runtime, table)
    if left != 0:
        for k in range(outputs):
            decrement_if(peek(made + 8 * k))
        return 0 if left == LEFT_INTERRUPTED else no_memory()
    return results(d, runtime, made, cells + 16 * inputs)


def refused(d: int, runtime: int, arguments: int, count: int) -> int:
    """Other arguments than this layout's: ask the fallback, or say so."""
    if peek(d + FALLBACK) != 0:
        return vectorcall(peek(d + FALLBACK), arguments, count, 0)
    increment(peek(runtime + RUNTIME_NOT_IMPLEMENTED))
    return peek(runtime + RUNTIME_NOT_IMPLEMENTED)


def input_address(runtime: int, record: int, argument: int, cell: int) -> int:
    """Where an argument's elements lie, a number's in ``cell``; zero if it is not what the record expects."""
    kind = peek(argument + OBJECT_TYPE)
    accept = peek(record + 8)
    if kind == peek(runtime + RUNTIME_ARRAY_TYPE) and accept & ACCEPT_ARRAY:
        return array_address(record, argument)
    if accept == ACCEPT_ARRAY:
        return 0
    if kind == peek(record + 40):
        return argument + OBJECT_VALUE
    if is_stored(runtime, record, argument, cell, kind):
        return cell
    return 0


def is_stored(runtime: int, record: int, argument: int, cell: int, kind: int) -> bool:
    """Store one of Python's own numbers in the input's dtype, if it is accepted and fits."""
    accept = peek(record + 8)
    if kind == peek(runtime + RUNTIME_FLOAT_TYPE):
        return accept & ACCEPT_FLOAT != 0 and store_real(record, cell, peek_f64(argument + OBJECT_VALUE))
    if kind == peek(runtime + RUNTIME_INT_TYPE):
        return accept & ACCEPT_INT != 0 and store_long(record, argument, cell)
    if kind == peek(runtime + RUNTIME_COMPLEX_TYPE):
        return accept & ACCEPT_COMPLEX != 0 and store_complex(record, argument, cell)
    if argument in (peek(runtime + RUNTIME_TRUE), peek(runtime + RUNTIME_FALSE)):
        return accept & ACCEPT_BOOL != 0 and store_truth(
            record, cell, argument == peek(runtime + RUNTIME_TRUE)
        )
    return False


def array_address(record: int, array: int) -> int:
    """The data of an array that is as expected, or zero."""
    rank = peek(record + 24)
    descr = peek(array + ARRAY_DESCR)
    plain = peek_i32(array + ARRAY_FLAGS) & ARRAY_IS_PLAIN
    if plain != ARRAY_IS_PLAIN or peek_i32(array + ARRAY_RANK) != rank:
        return 0
    if peek_i32(descr + DESCR_NUMBER) != peek(record + 16) or peek_u8(descr + DESCR_ORDER) == FOREIGN_ORDER:
        return 0
    shape = peek(array + ARRAY_DIMENSIONS)
    expected = peek(record + 32)
    for k in range(rank):
        if peek(shape + 8 * k) != peek(expected + 8 * k):
            return 0
    return peek(array + ARRAY_DATA)


def store_real(record: int, cell: int, value: float) -> bool:
    """Store a Python float in the input's dtype."""
    storage = peek(record + 48)
    size = peek(record + 56)
    if storage not in (F64, F32):
        return False
    poke(cell, 0)
    if storage == F64:
        poke_f64(cell, value)
        if size == 16:
            poke_f64(cell + 8, 0.0)
    else:
        poke_f32(cell, value)
    return True


def store_complex(record: int, argument: int, cell: int) -> bool:
    """Store a Python complex number in the input's dtype, a complex one."""
    storage = peek(record + 48)
    size = peek(record + 56)
    real = peek_f64(argument + OBJECT_VALUE)
    imaginary = peek_f64(argument + OBJECT_VALUE + 8)
    if storage == F64 and size == 16:
        poke_f64(cell, real)
        poke_f64(cell + 8, imaginary)
        return True
    if storage == F32 and size == 8:
        poke_f32(cell, real)
        poke_f32(cell + 4, imaginary)
        return True
    return False


def store_long(record: int, argument: int, cell: int) -> bool:
    """Store a Python integer in the input's dtype, if it is in range."""
    overflow = stack_space(8)
    poke(overflow, 0)
    value = long_value(argument, overflow)
    if peek_i32(overflow) != 0:
        return False
    return store_integer(record, cell, value)


def store_integer(record: int, cell: int, value: int) -> bool:
    """Store an integer in the input's dtype, if it is in range."""
    storage = peek(record + 48)
    size = peek(record + 56)
    if storage in (F64, F32):
        return store_real(record, cell, float(value))
    if storage not in (SIGNED, UNSIGNED):
        return False
    bits = 8 * size
    if storage == UNSIGNED and (value < 0 or (size < 8 and value >= 1 << bits)):
        return False
    if storage == SIGNED and size < 8 and (value < -(1 << (bits - 1)) or value >= 1 << (bits - 1)):
        return False
    if size == 8:
        poke(cell, value)
    elif size == 4:
        poke_i32(cell, value)
    elif size == 2:
        poke_i16(cell, value)
    else:
        poke_u8(cell, value)
    return True


def store_truth(record: int, cell: int, value: bool) -> bool:
    """Store a Python bool in the input's dtype."""
    if peek(record + 48) == BOOL:
        poke_u8(cell, int(value))
        return True
    return store_integer(record, cell, int(value))


def donors_are_free(d: int, table: int, arguments: int) -> bool:
    """Whether every donated input may be written and shares no memory with another input or a constant."""
    for k in range(peek(d + OUTPUT_COUNT)):
        output = peek(d + OUTPUTS) + RECORD * k
        if peek(output + 8) == DONATED:
            donor = peek(output + 48)
            array = peek(arguments + 8 * donor)
            if peek_i32(array + ARRAY_FLAGS) & ARRAY_IS_WRITEABLE == 0:
                return False
            start = peek(array + ARRAY_DATA)
            stop = start + peek(output + 40)
            if meets_input(d, table, donor, start, stop) or meets_constant(d, start, stop):
                return False
    return True


def meets_input(d: int, table: int, donor: int, start: int, stop: int) -> bool:
    """Whether another input than the donor has memory in a range."""
    for other in range(peek(d + INPUT_COUNT)):
        record = peek(d + INPUTS) + RECORD * other
        begin = peek(table + 8 * peek(record))
        if other != donor and begin < stop and start < begin + peek(record + 56):
            return True
    return False


def meets_constant(d: int, start: int, stop: int) -> bool:
    """Whether a constant has memory in a range."""
    for k in range(peek(d + CONSTANT_COUNT)):
        place = peek(d + CONSTANT_RANGES) + 16 * k
        if peek(place) < stop and start < peek(place + 8):
            return True
    return False


def make_outputs(d: int, runtime: int, table: int, arguments: int, cells: int, made: int) -> bool:
    """Make the arrays of the results; whether there was memory."""
    record = peek(d + OUTPUTS)
    for k in range(peek(d + OUTPUT_COUNT)):
        mode = peek(record + 8)
        array = 0
        if mode == SCALAR:
            poke(table + 8 * peek(record), cells + 16 * k)
        else:
            if mode == DONATED:
                array = peek(arguments + 8 * peek(record + 48))
                increment(array)
            else:
                array = new_output(runtime, record)
                if array == 0:
                    for done in range(k):
                        decrement_if(peek(made + 8 * done))
                    return False
            poke(table + 8 * peek(record), peek(array + ARRAY_DATA))
        poke(made + 8 * k, array)
        record += RECORD
    return True


def decrement_if(thing: int) -> None:
    """Give up a reference, if there is one."""
    if thing != 0:
        decrement(thing)


def new_output(runtime: int, record: int) -> int:
    """A new array; a large one in memory from the pool."""
    descr = peek(record + 16)
    rank = peek(record + 24)
    shape = peek(record + 32)
    new = peek(runtime + RUNTIME_NEW_ARRAY)
    kind = peek(runtime + RUNTIME_ARRAY_TYPE)
    increment(descr)
    if peek(record + 40) < LARGE or peek(runtime + RUNTIME_HANDLER) == 0:
        return new_array(new, kind, descr, rank, shape, 0, 0, 0, 0)
    before = set_handler(peek(runtime + RUNTIME_SET_HANDLER), peek(runtime + RUNTIME_HANDLER))
    if before == 0:
        decrement(descr)
        return 0
    array = new_array(new, kind, descr, rank, shape, 0, 0, 0, 0)
    decrement_if(set_handler(peek(runtime + RUNTIME_SET_HANDLER), before))
    decrement(before)
    return array


def run(d: int, runtime: int, table: int) -> int:
    """Give the code its scratch memory and run it; zero, or why it was left before its end."""
    size = peek(d + SCRATCH_BYTES)
    if size <= LARGEST_ON_STACK:
        return run_with(d, table, stack_space(size))
    scratch = pool_take(peek(runtime + RUNTIME_POOL), size)
    if scratch == 0:
        return LEFT_NO_MEMORY
    left = run_with(d, table, scratch)
    pool_give(peek(runtime + RUNTIME_POOL), scratch)
    return left


def run_with(d: int, table: int, scratch: int) -> int:
    """Run the code, without Python's lock if that takes long; zero, or why it was left before its end."""
    entries = peek(d + SCRATCH)
    for k in range(peek(d + SCRATCH_COUNT)):
        poke(table + 8 * peek(entries + 16 * k), scratch + peek(entries + 16 * k + 8))
    if peek(d + IS_LONG) != 0:
        thread = save_thread()
        left = enter(d, table)
        restore_thread(thread)
        return left
    return enter(d, table)


def enter(d: int, table: int) -> int:
    """Run the code; zero, or why it was left before its end."""
    if peek(d + MAY_STOP) != 0:
        return run_stoppable(peek(d + ENTRY), table, peek(d + SIZES))
    run_kernel(peek(d + ENTRY), table, peek(d + SIZES))
    return 0


def results(d: int, runtime: int, made: int, cells: int) -> int:
    """The result, or a tuple of them. Takes over the references of ``made``."""
    count = peek(d + OUTPUT_COUNT)
    failed = False
    for k in range(count):
        record = peek(d + OUTPUTS) + RECORD * k
        if peek(record + 8) == SCALAR:
            scalar = new_scalar(peek(runtime + RUNTIME_NEW_SCALAR), cells + 16 * k, peek(record + 16), 0)
            poke(made + 8 * k, scalar)
            failed = failed or scalar == 0
    if peek(d + IS_SINGLE) != 0:
        return peek(made)
    whole = 0
    if not failed:
        whole = new_tuple(count)
    for k in range(count):
        if whole != 0:
            set_item(whole, k, peek(made + 8 * k))
        else:
            decrement_if(peek(made + 8 * k))
    return whole
