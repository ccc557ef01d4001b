"""`load` of files that are not what `save` wrote: one clear error, whatever is wrong in them."""

from __future__ import annotations

import io
import pickle
import zipfile
from typing import Any

import numpy as np
import pytest

import funcgrad.torch as torch
from funcgrad.torch.core.pickled import inside

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


def test_truncated_at_every_byte() -> None:
    data = saved()
    for length in range(len(data)):
        refused(data[:length])


def test_any_byte_of_the_pickle_changed_where_the_checksum_is_right(rng: np.random.Generator) -> None:
    """Nobody's accident, but a file that was made so: a value of values, or the error."""
    with zipfile.ZipFile(io.BytesIO(saved())) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    text = members["archive/data.pkl"]
    memories = {f"_{k}": m for k, m in enumerate(m for name, m in members.items() if "/data/" in name)}
    plain = (torch.Tensor, dict, list, tuple, set, str, bytes, int, float, complex, type(None), torch.dtype)
    for place in rng.integers(0, len(text), 1500):
        changed = bytearray(text)
        changed[place] = int(rng.integers(0, 256))
        try:
            found = torch.load(io.BytesIO(archived(bytes(changed), **memories)))
        except (RuntimeError, pickle.UnpicklingError):
            continue  # either outcome is right
        else:
            assert all(isinstance(part, plain) for part in inside(found)), bytes(changed)


@pytest.mark.parametrize("name", ["data.pkl", "data/0"])
def test_members_that_are_missing_or_too_short(name: str) -> None:
    with zipfile.ZipFile(io.BytesIO(saved())) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for kept in (None, members[f"archive/{name}"][:-1], b""):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for other, contents in members.items():
                if other != f"archive/{name}":
                    archive.writestr(other, contents)
                elif kept is not None:
                    archive.writestr(other, kept)
        refused(file.getvalue())


STORAGE = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQ"


@pytest.mark.parametrize(
    "text",
    [
        b"ccollections\nOrderedDict\n.",
        b"ctorch\nFloatStorage\n.",
        b"]cnumpy\nndarray\na.",
        STORAGE + b".",
        b"}K\x01" + STORAGE + b"s.",
        b"(\x85.",
        b"\x86.",
        b"(K\x01\x86.",
        b"cnumpy\ndtype\n(X\x02\x00\x00\x00f8tR.",
    ],
)
def test_what_tensors_are_made_of_is_no_value(text: bytes) -> None:
    refused(archived(text, _0=np.ones(2, np.float32).tobytes()))


@pytest.mark.parametrize(
    "text",
    [
        b"cos\nsystem\n(X\x04\x00\x00\x00exittR.",
        b"(X\x04\x00\x00\x00exitios\nsystem\n.",
        b"(cos\nsystem\nX\x04\x00\x00\x00exito.",
        b"\x8c\x02os\x8c\x06system\x93\x8c\x04exit\x85R.",
        b"cbuiltins\neval\n)\x81.",
        b"cbuiltins\ngetattr\n(cos\npath\nX\x06\x00\x00\x00existstR.",
        b"ccollections\nOrderedDict\n)R}X\x09\x00\x00\x00__class__cos\nsystem\nsb.",
        b"cnumpy.core.multiarray\nscalar\n(X\x01\x00\x00\x00OC\x08AAAAAAAAtR.",
        b"\x82\x01.",
    ],
)
def test_what_would_run_something_is_refused(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*given: object) -> None:
        raise AssertionError(f"the file has called it with {given}")

    monkeypatch.setattr("os.system", run)
    refused(archived(b"\x80\x04" + text))


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
