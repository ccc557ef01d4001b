"""Colours: one palette for everything that is shown, light and dark, as CSS variables.

Every rule stands below the class `ROOT`, so nothing leaks into the notebook around it. Which palette holds is
said by the reader's system, unless the notebook, the editor or the site around it says so by an attribute
or a class of its own. Pictures and pages use the variables by name and no colour of their own.
"""

from __future__ import annotations

from collections.abc import Collection

ROOT = "fg-display"
"""The class of the outermost element of everything that is shown: a ``div``, or the ``svg`` of a picture."""

SELECTOR = f".{ROOT}.{ROOT}"
"""Selects the root; twice, to be stronger than the rules of notebooks for all tables that they show."""

COLOURS = {
    # name: (light, dark). A colour for text and lines, and with "-soft" the same as a background.
    "ink": ("#1f2328", "#e3e6ea"),
    "dim": ("#656d76", "#9aa3ad"),
    "faint": ("#d5dae0", "#3a4048"),
    "paper": ("#ffffff", "#16191d"),
    "raised": ("#f5f7f9", "#1f2429"),
    "forward": ("#0b61b8", "#6cb4ff"),
    "forward-soft": ("#e6f1fc", "#152b42"),
    "backward": ("#b3450a", "#ffa066"),
    "backward-soft": ("#fdeee3", "#3d2415"),
    "leaf": ("#1a7f45", "#5fd08a"),
    "leaf-soft": ("#e4f6ea", "#153524"),
    "constant": ("#7a4fb5", "#c9a5ff"),
    "constant-soft": ("#f2ebfc", "#2d2240"),
    "freed": ("#8b949e", "#6f7882"),
    "warning": ("#9a6700", "#e3b341"),
    "warning-soft": ("#fff5d6", "#3a2e10"),
    "heat": ("#d9480f", "#ff7b39"),
    "mark": ("#ffe58a", "#6a5410"),
    # What kernels consist of.
    "loop": ("#0b61b8", "#6cb4ff"),
    "scalars": ("#656d76", "#9aa3ad"),
    "product": ("#1a7f45", "#5fd08a"),
    "factorization": ("#7a4fb5", "#c9a5ff"),
    "sorting": ("#a3377e", "#f08fcb"),
    "control": ("#0e7c86", "#56c8d3"),
    "numpy": ("#9a6700", "#e3b341"),
    # Source text.
    "keyword": ("#b3261e", "#ff8a80"),
    "string": ("#0a5a8a", "#9ad1ff"),
    "number": ("#0550ae", "#82b9ff"),
    "comment": ("#6a7580", "#8d97a2"),
    "function": ("#6f42c1", "#d2b0ff"),
}

LIGHT = {name: light for name, (light, _) in COLOURS.items()}
DARK = {name: dark for name, (_, dark) in COLOURS.items()}

_SAYS_DARK = (
    '[data-jp-theme-light="false"]',  # JupyterLab and Notebook 7
    ".vscode-dark",
    ".vscode-high-contrast:not(.vscode-high-contrast-light)",
    '[data-theme="dark"]',  # sites made by Sphinx
    'html[theme="dark"]',  # Colab
    ".fg-dark",
)
_SAYS_LIGHT = (
    '[data-jp-theme-light="true"]',
    ".vscode-light",
    ".vscode-high-contrast-light",
    '[data-theme="light"]',
    'html[theme="light"]',
    ".fg-light",
)


def variables(names: Collection[str] = COLOURS) -> str:
    """The palette (or these names of it) as CSS: ``var(--fg-forward)`` and others, in light and in dark.

    >>> "--fg-forward:#0b61b8" in variables(), "prefers-color-scheme:dark" in variables()
    (True, True)
    >>> "--fg-forward:" in variables(["ink"])
    False
    """
    light = ";".join([f"--fg-{name}:{colour}" for name, colour in LIGHT.items() if name in names])
    dark = ";".join([f"--fg-{name}:{colour}" for name, colour in DARK.items() if name in names])
    return "\n".join(
        [
            f"{SELECTOR}{{{light}}}",
            f"@media (prefers-color-scheme:dark){{{SELECTOR}{{{dark}}}}}",
            f"{within(_SAYS_LIGHT)}{{{light}}}",
            f"{within(_SAYS_DARK)}{{{dark}}}",
        ]
    )


def within(places: tuple[str, ...]) -> str:
    """Selects the root inside any of these places."""
    return ",".join([f"{place} {SELECTOR}" for place in places])


def scoped(rules: str, kind: str = "") -> str:
    """The rules, holding below the root only. A selector that starts with ``&`` is about the root itself.

    Displays of all kinds meet on one page; with a `kind`, only roots that have this class as well are meant.

    >>> print(scoped("td {padding:0}"))
    .fg-display.fg-display td{padding:0}
    >>> print(scoped("& {margin:0} th, td {padding:0}"))
    .fg-display.fg-display{margin:0}
    .fg-display.fg-display th,.fg-display.fg-display td{padding:0}
    >>> print(scoped("td {padding:0}", "fg-profile"))
    .fg-display.fg-display.fg-profile td{padding:0}
    """
    root = f"{SELECTOR}.{kind}" if kind else SELECTOR
    return "\n".join([_scoped_rule(rule.strip(), root) for rule in rules.split("}") if rule.strip()])


def _scoped_rule(rule: str, root: str) -> str:
    selectors, _, body = rule.partition("{")
    parts = [" ".join(selector.split()) for selector in selectors.split(",")]
    found = [root + part[1:] if part.startswith("&") else f"{root} {part}" for part in parts]
    declarations = [" ".join(line.split()) for line in body.split(";") if line.strip()]
    return f"{','.join(found)}{{{';'.join(declarations)}}}"


def page_style() -> str:
    """The style of a document that holds nothing else."""
    light, dark = LIGHT["paper"], DARK["paper"]
    preferred = f"@media (prefers-color-scheme:dark){{body{{background:{dark}}}}}"
    return f"body{{margin:1.5em;background:{light}}}{preferred}"
