"""Scripts of statements, from `statements.txt`: what each prints, gives or raises, one after the other."""

import pathlib

HERE = pathlib.Path(__file__).parent

HEAD = """
import ast, collections, copy, functools, io, itertools, math, pickle, warnings

def steps(text):
    names = dict(globals(), nn=torch.nn, F=torch.nn.functional, __name__="__main__")
    for step in ast.parse(text).body:
        whole = isinstance(step, ast.Expr)
        tree = ast.Expression(step.value) if whole else ast.Module([step], [])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                value = eval(compile(tree, "step", "eval" if whole else "exec"), names)
                if value is not None:
                    print(value if isinstance(value, str) else repr(value))
            except Exception as e:
                print(type(e).__name__ + ":", e)

torch.manual_seed(0)
"""


def cases():
    """``(name, code)`` of every script."""
    text = (HERE / "statements.txt").read_text()
    for block in text.strip().removeprefix("## ").split("\n## "):
        name, _, code = block.partition("\n")
        yield name, f"{HEAD}steps({code!r})\npass"
