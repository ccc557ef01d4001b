"""How the documentation is built: ``sphinx-build -W --keep-going -b html docs docs/_build/html``.

Needs no network. What is made from the code and from other files of the repository is written before the
build reads its pages (`making/site_pages.py`, `making/reference.py`), and ignored by git.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import funcgrad

HERE = Path(__file__).parent

project = "funcgrad"
author = "the funcgrad authors"
project_copyright = author
version = release = funcgrad.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
]
# What pages quote, and what a page is made of.
exclude_patterns = ["_build", "_generated", "making", "design/README.md", "**.ipynb_checkpoints"]
html_copy_source = False  # pytest collects every *.md below docs
nitpicky = False
default_role = "py:obj"  # docstrings write `name`; what is no name of ours stays as it is

autodoc_typehints = "none"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
add_function_parentheses = True
toc_object_entries_show_parents = "hide"
python_maximum_signature_line_length = 96
python_use_unqualified_type_names = True

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3
nb_execution_mode = "auto"  # text pages have no outputs, so their cells run; stored notebooks have
nb_execution_excludepatterns = ["notebooks/*"]
nb_execution_timeout = 180
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_execution_show_tb = True


def colours(brand: str) -> dict[str, str]:
    """The variables of the theme that have the colour of links."""
    return dict.fromkeys(("color-brand-primary", "color-brand-content", "color-api-name"), brand) | {
        "color-api-pre-name": "var(--color-foreground-muted)"
    }


html_theme = "furo"
html_title = "funcgrad"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": colours("#0b5cad"),
    "dark_css_variables": colours("#6cb6ff"),
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"

copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def setup(app: Any) -> dict[str, bool]:
    """Write the generated pages, and connect what turns our docstrings and names into markup."""
    os.environ.setdefault("FUNCGRAD_NOTICES", "0")  # cells are run by slow machines too
    sys.path.insert(0, str(HERE / "making"))
    import docstrings  # noqa: PLC0415 - found by the line above
    import links  # noqa: PLC0415
    import reference  # noqa: PLC0415
    import site_pages  # noqa: PLC0415

    site_pages.write(HERE)
    reference.write(HERE / "reference" / "generated")
    app.connect("autodoc-process-docstring", docstrings.process)
    app.connect("doctree-read", links.tidy)
    app.connect("doctree-resolved", links.link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
