"""Blocks of memory that are kept when they are given back, so that their pages need not be mapped again.

A pool is 64 + 64 × 24 bytes: a lock, the bytes kept, the most to keep, a clock, the address of `madvise` or
zero; then the kept blocks' address, capacity and time of return. A block is preceded by its capacity and by
the address that malloc gave. Nobody waits for the lock: who does not get it uses malloc and free.
"""

from __future__ import annotations

from funcgrad.compile.runtime.machine.words import (
    atomic_store,
    atomic_swap,
    call_advise,
    free,
    malloc,
    memcpy,
    memset,
    peek,
    poke,
)

KEPT, LIMIT, CLOCK, ADVISE, FIRST_BLOCK = 8, 16, 24, 32, 64
BLOCKS, BLOCK_WORDS, BLOCK_SIZE, BLOCK_TIME = 64, 24, 8, 16
HUGE, PAGE, USE_HUGE_PAGES = 1 << 22, 4096, 14


def pool_take(pool: int, size: int) -> int:
    """The address of at least ``size`` bytes, aligned to 64; zero if there is no memory."""
    found = 0
    if atomic_swap(pool, 1) == 0:
        found = best_block(pool, size)
        atomic_store(pool, 0)
    if found == 0:
        found = new_block(pool, size)
    return found


def best_block(pool: int, size: int) -> int:
    """Take the smallest block that is large enough and wastes little, or zero."""
    best = 0
    most = size + size // 4 + 4096
    for k in range(BLOCKS):
        entry = pool + FIRST_BLOCK + k * BLOCK_WORDS
        capacity = peek(entry + BLOCK_SIZE)
        if peek(entry) != 0 and capacity >= size and capacity < most:
            best = entry
            most = capacity
    if best == 0:
        return 0
    block = peek(best)
    poke(best, 0)
    poke(pool + KEPT, peek(pool + KEPT) - peek(best + BLOCK_SIZE))
    return block


def new_block(pool: int, size: int) -> int:
    """A block from malloc; a huge one in huge pages, which are mapped and found sooner."""
    raw = malloc(size + 128)
    if raw == 0:
        return 0
    block = (raw + 127) & -64
    poke(block - 8, raw)
    poke(block - 16, size)
    if size >= HUGE and peek(pool + ADVISE) != 0:
        call_advise(peek(pool + ADVISE), (block + PAGE - 1) & -PAGE, size - PAGE, USE_HUGE_PAGES)
    return block


def pool_give(pool: int, block: int) -> None:
    """Give a block back."""
    if block == 0:
        return
    if atomic_swap(pool, 1) == 0:
        block = keep_block(pool, block)
        atomic_store(pool, 0)
    if block != 0:
        free(peek(block - 8))


def keep_block(pool: int, block: int) -> int:
    """Put a block into the table; what is left to free is zero or a block."""
    size = peek(block - 16)
    limit = peek(pool + LIMIT)
    if size > limit:
        return block
    entry = free_entry(pool)
    while entry == 0 or peek(pool + KEPT) + size > limit:
        entry = forget_oldest(pool)
    now = peek(pool + CLOCK) + 1
    poke(pool + CLOCK, now)
    poke(pool + KEPT, peek(pool + KEPT) + size)
    poke(entry, block)
    poke(entry + BLOCK_SIZE, size)
    poke(entry + BLOCK_TIME, now)
    return 0


def free_entry(pool: int) -> int:
    """An entry without a block, or zero."""
    for k in range(BLOCKS):
        entry = pool + FIRST_BLOCK + k * BLOCK_WORDS
        if peek(entry) == 0:
            return entry
    return 0


def forget_oldest(pool: int) -> int:
    """Free the block that has been kept longest; its entry."""
    oldest = 0
    for k in range(BLOCKS):
        entry = pool + FIRST_BLOCK + k * BLOCK_WORDS
        if peek(entry) != 0 and (oldest == 0 or peek(entry + BLOCK_TIME) < peek(oldest + BLOCK_TIME)):
            oldest = entry
    if oldest == 0:
        return pool + FIRST_BLOCK
    poke(pool + KEPT, peek(pool + KEPT) - peek(oldest + BLOCK_SIZE))
    free(peek(peek(oldest) - 8))
    poke(oldest, 0)
    return oldest


def pool_drop(pool: int) -> None:
    """Free all blocks that are kept."""
    if atomic_swap(pool, 1) == 0:
        while peek(pool + KEPT) != 0:
            forget_oldest(pool)
        atomic_store(pool, 0)


def handler_malloc(pool: int, size: int) -> int:
    """``malloc`` of a NumPy memory handler."""
    return pool_take(pool, size)


def handler_calloc(pool: int, count: int, size: int) -> int:
    """``calloc`` of a NumPy memory handler."""
    block = pool_take(pool, count * size)
    if block != 0:
        memset(block, 0, count * size)
    return block


def handler_realloc(pool: int, block: int, size: int) -> int:
    """``realloc`` of a NumPy memory handler."""
    if block == 0:
        return pool_take(pool, size)
    larger = pool_take(pool, size)
    if larger != 0:
        memcpy(larger, block, min(size, peek(block - 16)))
        pool_give(pool, block)
    return larger


def handler_free(pool: int, block: int, size: int) -> None:
    """``free`` of a NumPy memory handler."""
    pool_give(pool, block)
