"""What a loop in machine code asks now and then: has a signal come whose Python handler must run?

Only Python's main thread runs handlers; in another one, a call that was thought too short to give Python's
lock away gives it away here. The clock is read first, because the lock may have to be waited for: it is taken
at most every 20 milliseconds.
"""

from __future__ import annotations

from funcgrad.compile.runtime.machine.offsets import (
    SIGNALS_BETWEEN,
    SIGNALS_CLOCK,
    SIGNALS_MAIN_THREAD,
    SIGNALS_NEXT,
    SIGNALS_NEXT_OF_OTHERS,
)
from funcgrad.compile.runtime.machine.words import (
    atomic_load,
    check_signals,
    clock_time,
    ensure_lock,
    lock_is_held,
    peek,
    poke,
    release_lock,
    restore_thread,
    save_thread,
    stack_space,
    thread_number,
)

LOCK_WAS_HELD = 0  # PyGILState_LOCKED


def poll(signals: int) -> int:
    """Run the handlers of signals that have come, now and then; 1 if one has raised an exception."""
    now = nanoseconds(peek(signals + SIGNALS_CLOCK))
    if (thread_number() ^ peek(signals + SIGNALS_MAIN_THREAD)) & 0xFFFFFFFF != 0:
        if now >= peek(signals + SIGNALS_NEXT_OF_OTHERS):
            poke(signals + SIGNALS_NEXT_OF_OTHERS, now + SIGNALS_BETWEEN)
            if lock_is_held() != 0:
                restore_thread(save_thread())
        return 0
    if now < peek(signals + SIGNALS_NEXT):
        return 0
    poke(signals + SIGNALS_NEXT, now + SIGNALS_BETWEEN)
    return asked()


def poll_of_stage(signals: int) -> int:
    """The same in a function that several threads run, of which only Python's main one asks."""
    if (thread_number() ^ peek(signals + SIGNALS_MAIN_THREAD)) & 0xFFFFFFFF != 0:
        return 0
    now = nanoseconds(peek(signals + SIGNALS_CLOCK))
    if now < peek(signals + SIGNALS_NEXT):
        return 0
    poke(signals + SIGNALS_NEXT, now + SIGNALS_BETWEEN)
    return asked()


def is_set(flag: int) -> int:
    """Whether a number that other threads write is not zero."""
    return int(atomic_load(flag) != 0)


def never(signals: int) -> int:
    """For callers that cannot pass an exception on."""
    return 0


def asked() -> int:
    """Run the handlers of signals that have come; 1 if one has raised an exception."""
    state = ensure_lock()
    if state == LOCK_WAS_HELD:
        # A short call keeps the lock: other threads get it here, once this one is found to be long.
        restore_thread(save_thread())
    found = check_signals()
    release_lock(state)
    return int(found != 0)


def nanoseconds(clock: int) -> int:
    """The time of a clock."""
    time = stack_space(16)
    clock_time(clock, time)
    return peek(time) * 1000000000 + peek(time + 8)
