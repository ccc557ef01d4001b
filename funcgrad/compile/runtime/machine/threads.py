"""A pool of threads for stages of kernels: the work is an index range, taken in pieces by whoever is free.

The caller takes pieces from the beginning of the range, workers from its end, until all are taken. So who
works at one end in one stage does so in the next, and in the next call: what it reads is in its own cache.
A worker that wakes up on the caller's processor moves to another: there the two would only take turns.

The pool's words are described in `offsets`. One caller at a time owns the workers; a second one, or a stage
inside a stage, does its work itself. Workers watch the generation for a moment after their last work, and
then sleep. A caller waits only for the workers that took part: it closes the job first, and who comes late
goes back to sleep.
"""

from __future__ import annotations

from funcgrad.compile.runtime.machine.offsets import (
    POOL_AFFINITY,
    POOL_BEGIN,
    POOL_BLOCK_SIGNALS,
    POOL_CALLERS_PROCESSOR,
    POOL_CONDITION,
    POOL_END,
    POOL_FROM_END,
    POOL_GENERATION,
    POOL_GRAIN,
    POOL_INSIDE,
    POOL_MUTEX,
    POOL_NUMBERS,
    POOL_OPEN,
    POOL_OWNED,
    POOL_PROCESSOR,
    POOL_SET_AFFINITY,
    POOL_SLEEPERS,
    POOL_STAGE,
    POOL_TABLE,
    POOL_TAKEN,
    POOL_WANTED,
    POOL_WORKERS,
    SPINS,
    SPINS_BEFORE_YIELD,
)
from funcgrad.compile.runtime.machine.words import (
    atomic_add,
    atomic_load,
    atomic_store,
    call_affinity,
    call_processor,
    compare_and_swap,
    condition_broadcast,
    condition_init,
    condition_wait,
    create_thread,
    detach_thread,
    fill_signals,
    function_address,
    mask_signals,
    memcpy,
    mutex_init,
    mutex_lock,
    mutex_unlock,
    pause,
    peek,
    poke,
    run_stage,
    stack_space,
    yield_processor,
)

AFFINITY_BYTES = 1024
"""The bits of a set of processors, as C's functions take them."""


def parallel(threads: int, stage: int, p: int, n: int, begin: int, end: int, grain: int) -> None:
    """Run ``stage(p, n, from, to)`` over a range, at least ``grain`` indices at a time, on all threads."""
    grain = max(grain, 1)
    wanted = peek(threads + POOL_WANTED)
    if wanted < 2 or end - begin <= grain or not compare_and_swap(threads + POOL_OWNED, 0, 1):
        run_stage(stage, p, n, begin, end)
        return
    if peek(threads + POOL_WORKERS) < wanted - 1:
        hire(threads, wanted - 1)
    poke(threads + POOL_STAGE, stage)
    poke(threads + POOL_TABLE, p)
    poke(threads + POOL_NUMBERS, n)
    poke(threads + POOL_BEGIN, begin)
    poke(threads + POOL_END, end)
    poke(threads + POOL_GRAIN, grain)
    atomic_store(threads + POOL_TAKEN, 0)
    atomic_store(threads + POOL_FROM_END, 0)
    atomic_add(threads + POOL_OPEN, 1)
    atomic_add(threads + POOL_GENERATION, 1)
    if atomic_add(threads + POOL_SLEEPERS, 0) > 0:
        mutex_lock(threads + POOL_MUTEX)
        poke(threads + POOL_CALLERS_PROCESSOR, processor(threads))
        condition_broadcast(threads + POOL_CONDITION)
        mutex_unlock(threads + POOL_MUTEX)
    pieces = (end - begin + grain - 1) // grain
    piece = 0
    while atomic_add(threads + POOL_TAKEN, 1) < pieces:
        first = begin + piece * grain
        run_stage(stage, p, n, first, min(first + grain, end))
        piece += 1
    atomic_add(threads + POOL_OPEN, -1)
    spins = 0
    while atomic_add(threads + POOL_INSIDE, 0) != 0:
        spins += 1
        if spins < SPINS_BEFORE_YIELD:
            pause()
        else:
            yield_processor()
    atomic_store(threads + POOL_OWNED, 0)


def work(threads: int) -> None:
    """Take pieces from the end of the job until all are taken: those that the caller takes are others."""
    stage = peek(threads + POOL_STAGE)
    p = peek(threads + POOL_TABLE)
    n = peek(threads + POOL_NUMBERS)
    begin = peek(threads + POOL_BEGIN)
    end = peek(threads + POOL_END)
    grain = peek(threads + POOL_GRAIN)
    pieces = (end - begin + grain - 1) // grain
    while atomic_add(threads + POOL_TAKEN, 1) < pieces:
        first = begin + (pieces - 1 - atomic_add(threads + POOL_FROM_END, 1)) * grain
        run_stage(stage, p, n, first, min(first + grain, end))


def worker(threads: int) -> None:
    """What a thread of the pool does, for ever."""
    seen = atomic_load(threads + POOL_GENERATION)
    while True:
        spins = 0
        while atomic_load(threads + POOL_GENERATION) == seen and spins < SPINS:
            pause()
            spins += 1
        if atomic_load(threads + POOL_GENERATION) == seen:
            step_aside(threads, sleep(threads, seen))
        seen = atomic_load(threads + POOL_GENERATION)
        # Having said that it is inside, a worker finds the job open, or the caller sees it and waits.
        atomic_add(threads + POOL_INSIDE, 1)
        if atomic_add(threads + POOL_OPEN, 0) != 0:
            work(threads)
        atomic_add(threads + POOL_INSIDE, -1)


def sleep(threads: int, seen: int) -> int:
    """Wait for the next job without using the processor; on which the caller was when it called."""
    mutex_lock(threads + POOL_MUTEX)
    atomic_add(threads + POOL_SLEEPERS, 1)
    while atomic_add(threads + POOL_GENERATION, 0) == seen:
        condition_wait(threads + POOL_CONDITION, threads + POOL_MUTEX)
    atomic_add(threads + POOL_SLEEPERS, -1)
    callers = peek(threads + POOL_CALLERS_PROCESSOR)
    mutex_unlock(threads + POOL_MUTEX)
    return callers


def processor(threads: int) -> int:
    """The number of the processor that this thread runs on, or -1 where the system does not say."""
    if peek(threads + POOL_PROCESSOR) == 0:
        return -1
    return call_processor(peek(threads + POOL_PROCESSOR))


def step_aside(threads: int, callers: int) -> None:
    """Leave the caller's processor for another that this thread may use, if there is one.

    A system wakes a thread where it slept or where it was called from, and may leave it there for seconds: it
    has so little to do each time that nothing seems worth moving.
    """
    if callers < 0 or processor(threads) != callers or callers >= AFFINITY_BYTES * 8:
        return
    allowed = stack_space(AFFINITY_BYTES)
    others = stack_space(AFFINITY_BYTES)
    if call_affinity(peek(threads + POOL_AFFINITY), 0, AFFINITY_BYTES, allowed) != 0:
        return
    memcpy(others, allowed, AFFINITY_BYTES)
    word = others + (callers >> 6) * 8
    poke(word, peek(word) & ~(1 << (callers & 63)))
    # Of no processor at all it is refused, and the thread stays. Afterwards it may go where it might before.
    if call_affinity(peek(threads + POOL_SET_AFFINITY), 0, AFFINITY_BYTES, others) == 0:
        call_affinity(peek(threads + POOL_SET_AFFINITY), 0, AFFINITY_BYTES, allowed)


def hire(threads: int, count: int) -> None:
    """Start workers up to a number of them. Signals stay with the threads that Python knows."""
    blocked = stack_space(1024)
    before = stack_space(1024)
    handle = stack_space(64)
    fill_signals(blocked)
    mask_signals(peek(threads + POOL_BLOCK_SIGNALS), blocked, before)
    started = peek(threads + POOL_WORKERS)
    if started == 0:
        mutex_init(threads + POOL_MUTEX, 0)
        condition_init(threads + POOL_CONDITION, 0)
    while started < count:
        if create_thread(handle, 0, function_address(worker), threads) != 0:
            # No more threads to be had: work with those there are.
            count = started
            poke(threads + POOL_WANTED, started + 1)
        else:
            detach_thread(peek(handle))
            started += 1
    poke(threads + POOL_WORKERS, started)
    mask_signals(peek(threads + POOL_BLOCK_SIGNALS + 8), before, 0)
