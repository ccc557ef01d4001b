"""The command line ``python -m funcgrad``: its sub-commands, their help, and what the shell is told.

That is 0, or 2 for a command line that means nothing, 1 where whoever reads the output has gone, 130 after
Ctrl-C.
"""

from __future__ import annotations

import argparse
import difflib
import io
import os
import sys
from collections.abc import Sequence

import funcgrad as fg
from funcgrad.later import Later

# Help and errors come at once.
bench = Later("funcgrad.command.bench")
cache = Later("funcgrad.command.cache")
demonstration = Later("funcgrad.command.demonstration")
info = Later("funcgrad.command.info")
tour = Later("funcgrad.command.tour")

PROGRAM = "python -m funcgrad"
COMMANDS = ("info", "tour", "bench", "cache")

DESCRIPTION = """\
Gradients of ordinary NumPy code.

Without a command: what is installed, and one model differentiated, fitted and compiled."""

EPILOG = """\
environment:
  FUNCGRAD_NUM_THREADS   threads that long loops are divided between
  FUNCGRAD_CACHE_DIR     where compiled code is kept
  FUNCGRAD_CACHE_SIZE    the most bytes kept there
  FUNCGRAD_CACHE=0       keep none
  FUNCGRAD_TRACEBACKS=full
                         show the library's own frames in tracebacks

Help for one command: python -m funcgrad bench --help"""


class Help(argparse.RawDescriptionHelpFormatter):
    """Lists the commands without a line that only says that they are commands."""

    def _format_action(self, action: argparse.Action) -> str:
        text = super()._format_action(action)
        return text.partition("\n")[2] if action.nargs == argparse.PARSER else text


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog=PROGRAM, description=DESCRIPTION, epilog=EPILOG, formatter_class=Help)
    made.add_argument("--version", action="version", version=f"funcgrad {fg.__version__}")
    commands = made.add_subparsers(dest="command", title="commands", metavar="COMMAND")

    info_options = commands.add_parser(
        "info",
        help="versions, processor, threads, cache and peers",
        description="What a result depends on: for you, and for reports of bugs.",
    )
    info_options.add_argument("--json", action="store_true", help="as JSON, to paste into a report")

    commands.add_parser(
        "tour",
        help="a guided run on real data: Programs, fit, kernels, profile, tensors",
        description="A guided run that differentiates, fits, compiles and profiles a model on real data.",
    )

    bench_options = commands.add_parser(
        "bench",
        help="a quick benchmark on this machine, beside the peers that are installed",
        description="Time a handful of gradients, within a minute.",
    )
    bench_options.add_argument("--no-peers", action="store_true", help="funcgrad and NumPy only")
    bench_options.add_argument(
        "--seconds",
        type=positive,
        default=0.3,
        metavar="S",
        help="how long each number is measured for (%(default)s)",
    )

    cache_options = commands.add_parser(
        "cache",
        help="the disk cache of compiled code: info, clear, path",
        description="The disk cache of compiled code.",
    )
    cache_options.add_argument(
        "action",
        nargs="?",
        choices=("info", "clear", "path"),
        default="info",
        help="say what is kept (info, the default), remove all of it (clear), print the directory (path)",
    )
    return made


def positive(text: str) -> float:
    """A number of seconds above zero."""
    number = float(text)
    if not number > 0.0:
        raise argparse.ArgumentTypeError(f"{text} is not above zero")
    return number


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns what the shell is told."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # What the output cannot write, a bar of a picture, is no reason to fail.
        sys.stdout.reconfigure(errors="replace")
    if given and not given[0].startswith("-") and given[0] not in COMMANDS:
        return unknown(given[0])
    options = parser().parse_args(given)
    try:
        run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # `| head` has read enough: let the interpreter's last flush have somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    return 0


def unknown(command: str) -> int:
    """Say that there is no such command, and which was perhaps meant."""
    near = difflib.get_close_matches(command, COMMANDS, 1)
    meant = f"; did you mean {near[0]}?" if near else ""
    print(f"{PROGRAM}: there is no command {command!r}{meant}", file=sys.stderr)
    print(f"commands: {', '.join(COMMANDS)}; more with {PROGRAM} --help", file=sys.stderr)
    return 2


def run(options: argparse.Namespace) -> None:
    """What was asked for. The modules are imported when they are: help and errors come at once."""
    if options.command == "info":
        print(info.info_json() if options.json else info.info_text())
    elif options.command == "tour":
        tour.tour()
    elif options.command == "bench":
        bench.bench(() if options.no_peers else bench.PEERS, options.seconds)
    elif options.command == "cache":
        actions = {"info": cache.cache_text, "clear": cache.cache_clear, "path": cache.cache_path}
        print(actions[options.action]())
    else:
        demonstration.demonstrate()
