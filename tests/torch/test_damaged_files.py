"""`load` of files that are not what `save` wrote: one clear error, whatever is wrong in them."""

from __future__ import annotations

import io
import json
import pickle
from typing import Any

import numpy as np
import pytest

import funcgrad.torch as torch

OBJECT = {"w": torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True), "n": [1, 2.5, "text", None, 1j]}


def saved() -> bytes:
    file = io.BytesIO()
    torch.save(OBJECT, file)
    return file.getvalue()


def refused(data: bytes) -> None:
    with pytest.raises(RuntimeError, match=r"load\(\) reads only what funcgrad.torch.save wrote"):
        torch.load(io.BytesIO(data))


def described(description: Any, **arrays: Any) -> bytes:
    file = io.BytesIO()
    text = description if isinstance(description, bytes) else json.dumps(description).encode()
    np.savez(file, allow_pickle=False, description=np.frombuffer(text, np.uint8), **arrays)
    return file.getvalue()


def test_what_was_saved_is_loaded(tmp_path: Any) -> None:
    found = torch.load(io.BytesIO(saved()))
    np.testing.assert_array_equal(found["w"].detach().numpy(), [[1.0, 2.0], [3.0, 4.0]])
    assert found["w"].requires_grad
    assert found["n"] == OBJECT["n"]
    (tmp_path / "x.pt").write_bytes(saved())
    assert torch.load(tmp_path / "x.pt")["n"] == OBJECT["n"]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.5, 0.9, 0.99, 0.999])
def test_truncated(share: float) -> None:
    data = saved()
    refused(data[: int(len(data) * share)])


def test_any_byte_changed(rng: np.random.Generator) -> None:
    """What is loaded all the same is what was saved: bytes that nobody reads."""
    data = saved()
    for place in rng.integers(0, len(data), 400):
        changed = bytearray(data)
        changed[place] ^= int(rng.integers(1, 256))
        try:
            found = torch.load(io.BytesIO(bytes(changed)))
        except RuntimeError as error:
            assert "load() reads only what" in str(error)  # noqa: PT017 - either outcome is right
        else:
            np.testing.assert_array_equal(found["w"].detach().numpy(), [[1.0, 2.0], [3.0, 4.0]])
            assert found["n"] == OBJECT["n"]


@pytest.mark.parametrize(
    "data",
    [
        b"text",
        b"PK\x03\x04",
        pickle.dumps(OBJECT["n"]),
        pickle.dumps(OBJECT["n"], 0),
        described(b"{not json"),
        described(b"\xff\xfe"),
        described([]),
        described({"kind": "nothing"}),
        described({"kind": "tensor", "array": "missing", "requires_grad": True}),
        described({"kind": "tensor", "array": "a", "requires_grad": "yes"}, a=np.ones(2)),
        described({"kind": "tensor", "array": "a"}, a=np.ones(2)),
        described({"kind": "dict", "items": [1]}),
        described({"kind": "set", "items": [{"kind": "list", "items": []}]}),
        described({"kind": "float", "value": "one"}),
        described({"kind": "complex", "value": [{"kind": "plain", "value": "a"}]}),
        described({"kind": "dtype", "name": "float31"}),
        described(b'{"kind": "list", "items": [' * 3000),
    ],
)
def test_other_contents(data: bytes) -> None:
    refused(data)


def test_other_files_of_numpy(tmp_path: Any) -> None:
    file = io.BytesIO()
    np.save(file, np.ones(3))
    refused(file.getvalue())
    file = io.BytesIO()
    np.savez(file, a=np.ones(3))
    refused(file.getvalue())
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        torch.load(tmp_path)
