"""Which engine an object is, told by its classes: nothing is imported to find out."""

from __future__ import annotations

import concurrent.futures
import threading
import weakref

from funcgrad.api.calling.arguments import here
from funcgrad.distributed.engines.engine import Engine
from funcgrad.distributed.engines.executors import ExecutorEngine
from funcgrad.distributed.engines.futures import ThreadsEngine
from funcgrad.distributed.engines.processes import ProcessesEngine
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.later import Later
from funcgrad.shared import keep_through_forks

# What they stand on is an extra.
dask = Later("funcgrad.distributed.engines.dask")
mpi = Later("funcgrad.distributed.engines.mpi")

_ENGINES: weakref.WeakValueDictionary[int, Engine] = weakref.WeakValueDictionary()
"""By the identity of what they wrap, which they keep alive: so that steps share data."""
_ENTERING = threading.Lock()
keep_through_forks(_ENTERING)


def engine_of(x: object) -> Engine:
    """The engine that carries shards by `x`. Raises UnsupportedFunctionError where it is none."""
    found = _ENGINES.get(id(x))
    if found is None:
        made = made_for(x)
        with _ENTERING:
            found = _ENGINES.setdefault(id(x), made)
    return found


def made_for(x: object) -> Engine:
    """An engine for a client, communicator or executor."""
    names = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(x).__mro__}
    if "distributed.client.Client" in names:
        client: Engine = dask.DaskEngine(x)
        return client
    if "mpi4py.MPI.Intracomm" in names:
        communicator: Engine = mpi.MPIEngine(x)
        return communicator
    if "concurrent.futures.interpreter.InterpreterPoolExecutor" in names:
        raise UnsupportedFunctionError(
            "InterpreterPoolExecutor runs tasks in interpreters that cannot import NumPy",
            source=here(),
            remedy="Use a ThreadPoolExecutor, or a ProcessPoolExecutor.",
        )
    if isinstance(x, concurrent.futures.ThreadPoolExecutor):
        return ThreadsEngine(x)
    if any("ProcessPoolExecutor" in name for name in names) and not any("mpi4py" in name for name in names):
        return ProcessesEngine(x)
    if callable(getattr(x, "submit", None)):
        return ExecutorEngine(x)
    raise UnsupportedFunctionError(
        f"distribute cannot run on a {type(x).__name__}",
        source=here(),
        remedy="Give it a dask.distributed.Client, a communicator of mpi4py, or an executor as in "
        "concurrent.futures.",
    )
