"""Data on many machines: a function over data in shards, summed, on engines that exist.

`distribute` makes a step of a function: its leading arguments go to every worker, its data lies there in
shards, and the results are summed. Dask, MPI and executors carry what is sent; nothing here schedules, and
nothing here opens a connection. Engines are imported when one is given.
"""

from __future__ import annotations

from funcgrad.distributed.report import CallTimes, Report
from funcgrad.distributed.shards import Shards
from funcgrad.distributed.step import Distributed, distribute

__all__ = ["CallTimes", "Distributed", "Report", "Shards", "distribute"]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
