"""The call of compiled code: checks arguments, makes results, runs the code. One function serves all layouts.

``me`` is a tuple whose first item is an array of integers, the descriptor; `caller` writes it and says what
its words mean. Objects are read at the offsets that `objects` names.
"""

from __future__ import annotations

from funcgrad.compile.runtime.machine.objects import (
    ARRAY_BASE,
    ARRAY_DATA,
    ARRAY_DESCR,
    ARRAY_DIMENSIONS,
    ARRAY_FLAGS,
    ARRAY_IS_PLAIN,
    ARRAY_IS_WRITEABLE,
    ARRAY_RANK,
    ARRAY_WEAK,
    DESCR_NUMBER,
    DESCR_ORDER,
    FOREIGN_ORDER,
    OBJECT_COUNT,
    OBJECT_IMAGINARY,
    OBJECT_TYPE,
    OBJECT_VALUE,
    TUPLE_ITEMS,
)
from funcgrad.compile.runtime.machine.offsets import (
    ACCEPT_ARRAY,
    ACCEPT_BOOL,
    ACCEPT_COMPLEX,
    ACCEPT_FLOAT,
    ACCEPT_INT,
    BOOL,
    CELL,
    CONSTANT_COUNT,
    CONSTANT_RANGES,
    CONSTANT_SLOTS,
    DONATED,
    ENTRY,
    F32,
    F64,
    FALLBACK,
    HAS_DONORS,
    INPUT_ACCEPT,
    INPUT_BYTES,
    INPUT_COUNT,
    INPUT_DTYPE_NUMBER,
    INPUT_RANK,
    INPUT_SCALAR_TYPE,
    INPUT_SHAPE,
    INPUT_SLOT,
    INPUT_STORAGE,
    INPUTS,
    IS_LONG,
    IS_SINGLE,
    KEPT_RESULTS,
    KEPT_TURN,
    LARGE,
    LARGEST_ON_STACK,
    LEFT_INTERRUPTED,
    LEFT_NO_MEMORY,
    MAY_STOP,
    OUTPUT_BYTES,
    OUTPUT_COUNT,
    OUTPUT_DESCR,
    OUTPUT_DONOR,
    OUTPUT_MODE,
    OUTPUT_RANK,
    OUTPUT_SHAPE,
    OUTPUT_SLOT,
    OUTPUTS,
    PART,
    PART_OFFSET,
    PART_SLOT,
    RANGE,
    RANGE_BEGIN,
    RANGE_END,
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
    table = stack_space(8 * slots + CELL * (inputs + outputs) + 8 * outputs + 8)
    cells = table + 8 * slots + 8 * (slots & 1)
    made = cells + CELL * (inputs + outputs)
    if peek(d + CONSTANT_SLOTS) != 0:
        memcpy(table, peek(d + CONSTANT_SLOTS), 8 * slots)
    record = peek(d + INPUTS)
    for k in range(inputs):
        address = input_address(runtime, record, peek(arguments + 8 * k), cells + CELL * k)
        if address == 0:
            return refused(d, runtime, arguments, count)
        poke(table + 8 * peek(record + INPUT_SLOT), address)
        record += RECORD
    if peek(d + HAS_DONORS) != 0 and not donors_are_free(d, table, arguments):
        return refused(d, runtime, arguments, count)
    if not make_outputs(d, runtime, table, arguments, cells + CELL * inputs, made):
        return 0
    left = run(d, runtime, table)
    if left != 0:
        for k in range(outputs):
            decrement_if(peek(made + 8 * k))
        return 0 if left == LEFT_INTERRUPTED else no_memory()
    return results(d, runtime, made, cells + CELL * inputs)


def refused(d: int, runtime: int, arguments: int, count: int) -> int:
    """Other arguments than this layout's: ask the fallback, or say so."""
    if peek(d + FALLBACK) != 0:
        return vectorcall(peek(d + FALLBACK), arguments, count, 0)
    increment(peek(runtime + RUNTIME_NOT_IMPLEMENTED))
    return peek(runtime + RUNTIME_NOT_IMPLEMENTED)


def input_address(runtime: int, record: int, argument: int, cell: int) -> int:
    """Where an argument's elements lie, a number's in ``cell``; zero if it is not what the record expects."""
    kind = peek(argument + OBJECT_TYPE)
    accept = peek(record + INPUT_ACCEPT)
    if kind == peek(runtime + RUNTIME_ARRAY_TYPE) and accept & ACCEPT_ARRAY:
        return array_address(record, argument)
    if accept == ACCEPT_ARRAY:
        return 0
    if kind == peek(record + INPUT_SCALAR_TYPE):
        return argument + OBJECT_VALUE
    if is_stored(runtime, record, argument, cell, kind):
        return cell
    return 0


def is_stored(runtime: int, record: int, argument: int, cell: int, kind: int) -> bool:
    """Store one of Python's own numbers in the input's dtype, if it is accepted and fits."""
    accept = peek(record + INPUT_ACCEPT)
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
    rank = peek(record + INPUT_RANK)
    descr = peek(array + ARRAY_DESCR)
    plain = peek_i32(array + ARRAY_FLAGS) & ARRAY_IS_PLAIN
    if plain != ARRAY_IS_PLAIN or peek_i32(array + ARRAY_RANK) != rank:
        return 0
    if (
        peek_i32(descr + DESCR_NUMBER) != peek(record + INPUT_DTYPE_NUMBER)
        or peek_u8(descr + DESCR_ORDER) == FOREIGN_ORDER
    ):
        return 0
    return peek(array + ARRAY_DATA) if has_shape(array, rank, peek(record + INPUT_SHAPE)) else 0


def store_real(record: int, cell: int, value: float) -> bool:
    """Store a Python float in the input's dtype."""
    storage = peek(record + INPUT_STORAGE)
    size = peek(record + INPUT_BYTES)
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
    storage = peek(record + INPUT_STORAGE)
    size = peek(record + INPUT_BYTES)
    real = peek_f64(argument + OBJECT_VALUE)
    imaginary = peek_f64(argument + OBJECT_IMAGINARY)
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
    storage = peek(record + INPUT_STORAGE)
    size = peek(record + INPUT_BYTES)
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
    if peek(record + INPUT_STORAGE) == BOOL:
        poke_u8(cell, int(value))
        return True
    return store_integer(record, cell, int(value))


def donors_are_free(d: int, table: int, arguments: int) -> bool:
    """Whether every donated input may be written and shares no memory with another input or a constant."""
    for k in range(peek(d + OUTPUT_COUNT)):
        output = peek(d + OUTPUTS) + RECORD * k
        if peek(output + OUTPUT_MODE) == DONATED:
            donor = peek(output + OUTPUT_DONOR)
            array = peek(arguments + 8 * donor)
            if peek_i32(array + ARRAY_FLAGS) & ARRAY_IS_WRITEABLE == 0:
                return False
            start = peek(array + ARRAY_DATA)
            stop = start + peek(output + OUTPUT_BYTES)
            if meets_input(d, table, donor, start, stop) or meets_constant(d, start, stop):
                return False
    return True


def meets_input(d: int, table: int, donor: int, start: int, stop: int) -> bool:
    """Whether another input than the donor has memory in a range."""
    for other in range(peek(d + INPUT_COUNT)):
        record = peek(d + INPUTS) + RECORD * other
        begin = peek(table + 8 * peek(record + INPUT_SLOT))
        if other != donor and begin < stop and start < begin + peek(record + INPUT_BYTES):
            return True
    return False


def meets_constant(d: int, start: int, stop: int) -> bool:
    """Whether a constant has memory in a range."""
    for k in range(peek(d + CONSTANT_COUNT)):
        place = peek(d + CONSTANT_RANGES) + RANGE * k
        if peek(place + RANGE_BEGIN) < stop and start < peek(place + RANGE_END):
            return True
    return False


def make_outputs(d: int, runtime: int, table: int, arguments: int, cells: int, made: int) -> bool:
    """Make the arrays of the results; whether there was memory."""
    record = peek(d + OUTPUTS)
    kept = kept_results(d)
    for k in range(peek(d + OUTPUT_COUNT)):
        mode = peek(record + OUTPUT_MODE)
        array = 0
        if mode == SCALAR:
            poke(table + 8 * peek(record + OUTPUT_SLOT), cells + CELL * k)
        else:
            if mode == DONATED:
                array = peek(arguments + 8 * peek(record + OUTPUT_DONOR))
                increment(array)
            else:
                array = (
                    kept_output(runtime, record, kept + 8 * k) if kept != 0 else new_output(runtime, record)
                )
                if array == 0:
                    for done in range(k):
                        decrement_if(peek(made + 8 * done))
                    return False
            poke(table + 8 * peek(record + OUTPUT_SLOT), peek(array + ARRAY_DATA))
        poke(made + 8 * k, array)
        record += RECORD
    return True


def decrement_if(thing: int) -> None:
    """Give up a reference, if there is one."""
    if thing != 0:
        decrement(thing)


def kept_results(d: int) -> int:
    """Where the arrays of the call before the last one are kept, or zero: the last ones are still held."""
    if peek(d + KEPT_RESULTS) == 0:
        return 0
    turn = 1 - peek(d + KEPT_TURN)
    poke(d + KEPT_TURN, turn)
    return peek(d + KEPT_RESULTS) + 8 * turn * peek(d + OUTPUT_COUNT)


def kept_output(runtime: int, record: int, place: int) -> int:
    """The array that is kept at ``place`` if nobody else has it, or a new one, which is kept there."""
    kept = peek(place)
    if is_free(record, kept):
        increment(kept)
        return kept
    new = new_output(runtime, record)
    if new != 0:
        increment(new)
        poke(place, new)
        decrement(kept)
    return new


def is_free(record: int, kept: int) -> bool:
    """Whether nothing else refers to what is kept, and it still is the array that the record describes."""
    if peek_i32(kept + OBJECT_COUNT) != 1 or peek(kept + ARRAY_WEAK) != 0 or peek(kept + ARRAY_BASE) != 0:
        return False
    needed = ARRAY_IS_PLAIN | ARRAY_IS_WRITEABLE
    rank = peek(record + OUTPUT_RANK)
    if (
        peek_i32(kept + ARRAY_FLAGS) & needed != needed
        or peek_i32(kept + ARRAY_RANK) != rank
        or peek(kept + ARRAY_DESCR) != peek(record + OUTPUT_DESCR)
    ):
        return False
    return has_shape(kept, rank, peek(record + OUTPUT_SHAPE))


def has_shape(array: int, rank: int, expected: int) -> bool:
    """Whether an array of this rank has the lengths that are expected."""
    shape = peek(array + ARRAY_DIMENSIONS)
    k = 0
    while k < rank and peek(shape + 8 * k) == peek(expected + 8 * k):
        k += 1
    return k == rank


def new_output(runtime: int, record: int) -> int:
    """A new array; a large one in memory from the pool."""
    descr = peek(record + OUTPUT_DESCR)
    rank = peek(record + OUTPUT_RANK)
    shape = peek(record + OUTPUT_SHAPE)
    new = peek(runtime + RUNTIME_NEW_ARRAY)
    kind = peek(runtime + RUNTIME_ARRAY_TYPE)
    increment(descr)
    if peek(record + OUTPUT_BYTES) < LARGE or peek(runtime + RUNTIME_HANDLER) == 0:
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
        part = entries + PART * k
        poke(table + 8 * peek(part + PART_SLOT), scratch + peek(part + PART_OFFSET))
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
        if peek(record + OUTPUT_MODE) == SCALAR:
            scalar = new_scalar(
                peek(runtime + RUNTIME_NEW_SCALAR), cells + CELL * k, peek(record + OUTPUT_DESCR), 0
            )
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
