"""A first call in a new process. The harness runs ``main`` with the time at which the process began to run.

Everything counts, the import of this package too, except making the inputs. Writes a pickle of the
seconds of each span and the results to standard output.
"""

from __future__ import annotations

import sys
from importlib import import_module
from time import perf_counter

from benchmarks.contenders import arrays_of
from benchmarks.libraries import loaded
from benchmarks.workloads import find


def main(start: float) -> None:
    """Time one contender of one workload, named on the command line."""
    name, contender_name = sys.argv[1:]
    workload = find(name)
    (contender,) = (c for c in workload.contenders if c.name == contender_name)
    numpy = loaded("numpy")
    module = loaded(contender.library)
    imported = perf_counter()
    inputs = workload.inputs(numpy)
    ready = perf_counter()
    call = contender.build(module, numpy, inputs)
    built = perf_counter()
    results = call()
    called = perf_counter()
    spans = {"import": imported - start, "build": built - ready, "first": called - built}
    sys.stdout.buffer.write(import_module("pickle").dumps((spans, arrays_of(numpy, results))))
