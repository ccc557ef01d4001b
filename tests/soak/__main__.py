"""``python -m tests.soak --seconds N --seed S``: random programs against every oracle, until time is up.

Prints how many programs agreed with what, and failures with seeds and smallest forms; exits with 1 then.
At the end another process takes the last kernels from disk, and must get the same bits.
"""

from __future__ import annotations

import argparse
import json
import linecache
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter

import numpy as np

import funcgrad as fg
from funcgrad.compile.runtime import tiering
from tests.soak.oracles import Mismatch, bits, check
from tests.soak.programs import Program, random_program
from tests.soak.reducing import reduced

FROM_DISK = 20
"""How many programs are run again by another process."""
APART = 1_000_000
"""Between the first seeds of processes that run beside each other."""


def failure_of(program: Program, depth: int = 2) -> str | None:
    """What kind of failure a program gives; None where all agree."""
    try:
        check(program, depth)
    except Mismatch as error:
        return error.kind
    except Exception as error:  # noqa: BLE001 - whatever is raised is what is looked for
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:100]
    return None


def main() -> None:
    """Run for as long as was asked, in as many processes."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0, help="the first program's; the others follow")
    parser.add_argument("--most", type=int, default=40, help="blocks of the longest program")
    parser.add_argument("--uncompiled", action="store_true", help="evaluate only: twenty times as many")
    parser.add_argument("--failures", type=int, default=5, help="stop after so many")
    parser.add_argument("--processes", type=int, default=1, help="as many beside each other, of other seeds")
    parser.add_argument("--again", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.again is not None:
        again(options.again, options.most)
    if options.processes > 1:
        beside_each_other(options)
    with tempfile.TemporaryDirectory() as folder:
        # Kernels of its own: in a large cache of other programs' the oldest are looked for at every store.
        os.environ["FUNCGRAD_CACHE_DIR"] = folder
        run(options)


def beside_each_other(options: argparse.Namespace) -> None:
    """Run several processes, each of its own seeds; ends this one."""
    common = [
        sys.executable,
        "-m",
        "tests.soak",
        "--seconds",
        str(options.seconds),
        "--most",
        str(options.most),
    ]
    common += ["--failures", str(options.failures), *["--uncompiled"] * options.uncompiled]
    seeds = [options.seed + k * APART for k in range(options.processes)]
    running = [subprocess.Popen([*common, "--seed", str(seed)]) for seed in seeds]
    raise SystemExit(max([process.wait() for process in running]))


def run(options: argparse.Namespace) -> None:
    """Run the programs of one process; ends it."""
    end = time.monotonic() + options.seconds
    counts: Counter[str] = Counter()
    failures, seed, blocks = 0, options.seed, 0
    compiled: dict[int, str] = {}
    os.environ["FUNCGRAD_NOTICES"] = "0"
    if options.uncompiled:
        tiering.LONGEST = 0  # nor is what is evaluated for long compiled after all
    while time.monotonic() < end and failures < options.failures:
        program = random_program(seed, options.most)
        blocks += len(program.blocks)
        try:
            # Every fourth program is compiled in every way.
            depth = 0 if options.uncompiled else 2 if seed % 4 == 0 else 1
            found = check(program, depth)
            counts.update(found)
            if "compiled" in found:
                compiled[seed] = bits(program)
        except Exception as error:  # noqa: BLE001 - reported, and counted
            failures += 1
            report(seed, program, error, depth)
        linecache.clearcache()  # of the texts of programs, which nobody asks for again
        counts["programs"] += 1
        seed += 1
    said = ", ".join([f"{count} {kind}" for kind, count in counts.most_common()])
    print(f"{counts['programs']} programs of {blocks / max(counts['programs'], 1):.0f} blocks: {said}")
    print(f"{counts['programs'] - failures} passed, {failures} failed")
    if compiled and fg.cache_info().enabled:
        latest = dict(list(compiled.items())[-FROM_DISK:])
        command = [
            sys.executable,
            "-m",
            "tests.soak",
            "--most",
            str(options.most),
            "--again",
            json.dumps(latest),
        ]
        failures += subprocess.run(command, check=False).returncode != 0
    raise SystemExit(1 if failures else 0)


def again(expected: dict[str, str], most: int) -> None:
    """Hold kernels from disk against the bits of the process that compiled them; ends this one."""
    different = [seed for seed, found in expected.items() if bits(random_program(int(seed), most)) != found]
    hits = fg.cache_info().hits
    print(f"{len(expected)} programs again, {hits} kernels from disk, {len(different)} different")
    if different:
        print("different bits: seeds", ", ".join(different))
    raise SystemExit(1 if different or not hits else 0)


def report(seed: int, program: Program, error: Exception, depth: int) -> None:
    """Print a failure in its smallest form, ready to become a test."""
    smallest = reduced(program, lambda candidate: failure_of(candidate, depth))
    print(f"--- seed {seed}: {failure_of(smallest, depth) or error}")
    with np.printoptions(precision=17, threshold=10_000):
        for name, x in smallest.args.items():
            print(f"{name} = np.{np.asarray(x)!r}")
    print(smallest.source)
    if not isinstance(error, Mismatch):
        traceback.print_exception(error, limit=-4)


if __name__ == "__main__":
    main()
