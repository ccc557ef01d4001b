"""What the run time's source may call: memory, atomic operations, and functions of C, CPython and NumPy.

Each function here only names an instruction for type checkers and readers; calling one from Python is an
error.
"""

from __future__ import annotations

from typing import NoReturn

from funcgrad.compile.language.external import External, Overload


def _machine_only() -> NoReturn:
    raise TypeError("the run time's source is compiled, not run")


def peek(address: int) -> int:
    """The 64-bit integer at an address."""
    _machine_only()


def peek_i32(address: int) -> int:
    """The signed 32-bit integer at an address."""
    _machine_only()


def peek_u8(address: int) -> int:
    """The byte at an address."""
    _machine_only()


def peek_f64(address: int) -> float:
    """The double at an address."""
    _machine_only()


def poke(address: int, value: int) -> None:
    """Store 64 bits."""
    _machine_only()


def poke_i32(address: int, value: int) -> None:
    """Store the lower 32 bits."""
    _machine_only()


def poke_i16(address: int, value: int) -> None:
    """Store the lower 16 bits."""
    _machine_only()


def poke_u8(address: int, value: int) -> None:
    """Store the lower 8 bits."""
    _machine_only()


def poke_f64(address: int, value: float) -> None:
    """Store a double."""
    _machine_only()


def poke_f32(address: int, value: float) -> None:
    """Store a number as a float."""
    _machine_only()


def atomic_load(address: int) -> int:
    """Read 64 bits; what other threads stored before their `atomic_store` is seen after."""
    _machine_only()


def atomic_store(address: int, value: int) -> None:
    """Store 64 bits, after everything stored before."""
    _machine_only()


def atomic_swap(address: int, value: int) -> int:
    """Store 64 bits and return what was there, in one step."""
    _machine_only()


def atomic_add(address: int, value: int) -> int:
    """Add to 64 bits and return what was there, in one step."""
    _machine_only()


def compare_and_swap(address: int, expected: int, value: int) -> bool:
    """Store 64 bits if they are as expected, in one step; whether they were."""
    _machine_only()


def stack_space(count: int) -> int:
    """The address of so many bytes of the stack, aligned to 64, until the function returns."""
    _machine_only()


def pause() -> None:
    """Tell the processor that this is a loop that waits."""
    _machine_only()


def function_address(function: object) -> int:
    """The address of another function of the source."""
    _machine_only()


def _c(name: str, arguments: int, result: str = "i64") -> External:
    return External(name, (Overload(name, ("i64",) * arguments, result),))


def at_address(arguments: str, result: str = "i64") -> External:
    """A function that calls the C function whose address is its first argument."""
    return External(f"call_{arguments}", (Overload("", ("i64", *arguments.split()), result),))


malloc = _c("malloc", 1)
free = _c("free", 1, "none")
memcpy = _c("memcpy", 3)
memset = External("memset", (Overload("memset", ("i64", "i32", "i64"), "i64"),))

increment = _c("Py_IncRef", 1, "none")
decrement = _c("Py_DecRef", 1, "none")
save_thread = _c("PyEval_SaveThread", 0)
restore_thread = _c("PyEval_RestoreThread", 1, "none")
long_value = _c("PyLong_AsLongLongAndOverflow", 2)
no_memory = _c("PyErr_NoMemory", 0)
new_tuple = _c("PyTuple_New", 1)
set_item = _c("PyTuple_SetItem", 3, "none")
new_list = _c("PyList_New", 1)
dict_length = _c("PyDict_Size", 1)
next_entry = External("PyDict_Next", (Overload("PyDict_Next", ("i64",) * 4, "i32"),))
found_entry = _c("PyDict_GetItemWithError", 2)
copied_dict = _c("PyDict_Copy", 1)
check_signals = External("PyErr_CheckSignals", (Overload("PyErr_CheckSignals", (), "i32"),))
ensure_lock = External("PyGILState_Ensure", (Overload("PyGILState_Ensure", (), "i32"),))
release_lock = External("PyGILState_Release", (Overload("PyGILState_Release", ("i32",), "none"),))
lock_is_held = External("PyGILState_Check", (Overload("PyGILState_Check", (), "i32"),))
thread_number = _c("PyThread_get_thread_ident", 0)
clock_time = External("clock_gettime", (Overload("clock_gettime", ("i32", "i64"), "i32"),))
vectorcall = _c("PyObject_Vectorcall", 4)

new_array = at_address("i64 i64 i32 i64 i64 i64 i32 i64")
new_scalar = at_address("i64 i64 i64")
set_handler = at_address("i64")
call_advise = at_address("i64 i64 i32", "i32")
run_kernel = at_address("i64 i64", "none")
run_stoppable = at_address("i64 i64")

create_thread = External("pthread_create", (Overload("pthread_create", ("i64",) * 4, "i32"),))
detach_thread = External("pthread_detach", (Overload("pthread_detach", ("i64",), "i32"),))
mutex_init = External("pthread_mutex_init", (Overload("pthread_mutex_init", ("i64", "i64"), "i32"),))
mutex_lock = External("pthread_mutex_lock", (Overload("pthread_mutex_lock", ("i64",), "i32"),))
mutex_unlock = External("pthread_mutex_unlock", (Overload("pthread_mutex_unlock", ("i64",), "i32"),))
condition_init = External("pthread_cond_init", (Overload("pthread_cond_init", ("i64", "i64"), "i32"),))
condition_wait = External("pthread_cond_wait", (Overload("pthread_cond_wait", ("i64", "i64"), "i32"),))
condition_broadcast = External(
    "pthread_cond_broadcast", (Overload("pthread_cond_broadcast", ("i64",), "i32"),)
)
fill_signals = External("sigfillset", (Overload("sigfillset", ("i64",), "i32"),))
mask_signals = External("pthread_sigmask", (Overload("pthread_sigmask", ("i32", "i64", "i64"), "i32"),))
yield_processor = External("sched_yield", (Overload("sched_yield", (), "i32"),))
run_stage = at_address("i64 i64 i64 i64", "none")
call_processor = External("call_processor", (Overload("", ("i64",), "i32"),))
call_affinity = at_address("i32 i64 i64", "i32")
