"""`load` of files that are not what `save` wrote: one clear error, whatever is wrong in them."""

from __future__ import annotations

import io
import pickle
import zipfile
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
    with pytest.raises((RuntimeError, pickle.UnpicklingError), match=r"load\(\) reads only|load failed"):
        torch.load(io.BytesIO(data))


def archived(text: bytes, **memories: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", text)
        for name, memory in memories.items():
            archive.writestr(f"archive/data/{name.strip('_')}", memory)
    return file.getvalue()


def tensor_of(offset: int, size: tuple[int, ...], stride: tuple[int, ...]) -> bytes:
    """The pickle of a tensor on a storage of two numbers."""
    storage = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQ"
    rest = b"".join(
        b"(" + b"".join(b"J" + n.to_bytes(4, "little", signed=True) for n in t) + b"t" for t in (size, stride)
    )
    place = b"J" + offset.to_bytes(4, "little", signed=True)
    return b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + storage + place + rest + b"\x89}tR."


def test_tensors_stay_in_their_memory() -> None:
    memory = np.ones(2, np.float32).tobytes()
    good = torch.load(io.BytesIO(archived(tensor_of(0, (2,), (1,)), _0=memory)))
    assert good.tolist() == [1.0, 1.0]
    for offset, size, stride in (
        (1, (2,), (1,)),
        (0, (3,), (1,)),
        (0, (2,), (2,)),
        (-1, (1,), (1,)),
        (1, (2,), (-1,)),
    ):
        refused(archived(tensor_of(offset, size, stride), _0=memory))


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
        except (RuntimeError, pickle.UnpicklingError):
            continue  # either outcome is right
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
        archived(b""),
        archived(b"."),
        archived(b"\x80\x02}"),
        archived(b"(((."),
        archived(pickle.dumps(print, 2)),
        archived(pickle.dumps(OBJECT["n"], 2)[:-5]),
        archived(b"\x80\x02ccollections\nOrderedDict\n)R}X\x01\x00\x00\x00aNsb."),
        archived(b"\x80\x02K\x01K\x02a."),
        archived(b"\x80\x02h\x05."),
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
