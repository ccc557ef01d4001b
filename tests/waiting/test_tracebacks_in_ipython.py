"""What IPython shows of an error: the user's frames, the caret, the remedy, and how to see the rest."""

import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("IPython")

SCRIPT = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="NoColor", cache_size=0)
shell.history_manager.enabled = False
for cell in CELLS:
    print("=====")
    shell.run_cell(cell, store_history=True)
"""


def shown(*cells: str) -> list[str]:
    """What a shell of a process of its own prints for each cell."""
    text = f"CELLS = {[textwrap.dedent(cell).strip() for cell in cells]!r}\n{SCRIPT}"
    command = [sys.executable, "-W", "ignore", "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("=====\n")[1:]


IMPORTS = "import numpy as np, funcgrad as fg"
LOSS = """
def loss(x):
    err = np.sum(x * x)
    if err < 1.0:
        return err
    return 2 * err
"""
HINT = "Library frames are hidden; fg.config.tracebacks('full') shows them from the next error on.\n"
BRANCH = (
    """\
---------------------------------------------------------------------------
TracedBranchError                         Traceback (most recent call last)
Cell In[3], line 1
----> 1 fg.jit(loss, control_flow=False)(np.ones(3))

Cell In[2], line 3, in loss(x)
      1 def loss(x):
      2     err = np.sum(x * x)
----> 3     if err < 1.0:
      4         return err
      5     return 2 * err

TracedBranchError: this branch depends on a traced bool[]
  Cell In[2]:3 in loss
    if err < 1.0:
       ^^^^^^^^^
  Use fg.numpy.where(err < 1.0, a, b), or fg.cond for code that must not run.
"""
    + HINT
)


@pytest.fixture(scope="module")
def outputs() -> list[str]:
    return shown(
        IMPORTS,
        LOSS,
        "fg.jit(loss, control_flow=False)(np.ones(3))",
        """
        from scipy.optimize import minimize
        def norm(x):
            return np.sum(np.concatenate([x, np.ones((2, 2))]))
        minimize(fg.value_and_grad(norm), np.ones(3), jac=True)
        """,
        """
        import funcgrad.torch as torch
        (torch.ones(3, requires_grad=True) * 2).backward()
        """,
        """
        def mine(x):
            raise ValueError("my own words")
        fg.grad(mine)(1.0)
        """,
        "1 / 0",
        "np.ones((2, 3)) @ np.ones(4)",
        """
        fg.config.tracebacks("full")
        fg.numpy.reshape(np.ones(3), (2, 2))
        """,
    )


def test_a_short_traceback_has_the_users_frames_the_caret_and_the_remedy(outputs):
    assert "".join(line.rstrip() + "\n" for line in outputs[2].splitlines()) == BRANCH


@pytest.mark.parametrize("place", [3, 4, 5])
def test_library_frames_are_hidden(outputs, place):
    assert "site-packages" not in outputs[place]
    assert "File " not in outputs[place], "frames of files are libraries' here"


def test_what_is_in_the_users_functions_is_shown(outputs):
    assert 'raise ValueError("my own words")' in outputs[5]
    assert outputs[5].rstrip().endswith("ValueError: my own words")
    assert "in norm(x)" in outputs[3]
    assert outputs[3].endswith(HINT)


def test_pytorchs_words_have_no_frames_of_ours(outputs):
    assert "RuntimeError: grad can be implicitly created only for scalar outputs" in outputs[4]
    assert outputs[4].endswith(HINT)


def test_errors_that_are_not_ours_look_as_ever(outputs):
    assert "ZeroDivisionError: division by zero" in outputs[6]
    assert HINT not in outputs[6] + outputs[7]
    assert "matmul: Input operand 1 has a mismatch" in outputs[7]


def test_all_frames_can_be_shown(outputs):
    assert "in reshape(" in outputs[8]
    assert "in new_shape(" in outputs[8]
    assert HINT not in outputs[8]


def test_a_shell_with_a_handler_of_its_own_keeps_it():
    first, second = shown(
        """
        def mine(shell, kind, error, tb, tb_offset=None):
            print("handled by me:", error)
        get_ipython().set_custom_exc((ValueError,), mine)
        import funcgrad
        """,
        "raise ValueError('x')",
    )
    assert first == ""
    assert second == "handled by me: x\n"
