"""Tensors and other libraries' arrays, files and copies; tensors inside funcgrad's own transforms."""

import copy
import gc
import io
import pickle
import weakref
import zipfile

import numpy as np
import pytest

import funcgrad as fg
import funcgrad.torch as torch


def test_numpy_and_tensor_share_memory():
    array = np.zeros(3)
    t = torch.from_numpy(array)
    t.add_(1)
    array[0] = 5
    assert t.tolist() == [5.0, 1.0, 1.0]
    assert np.shares_memory(t.numpy(), array)


@pytest.mark.peers("torch")
def test_dlpack_both_ways_with_pytorch():
    import torch as reference

    ours = torch.arange(3.0)
    theirs = reference.from_dlpack(ours)
    theirs[0] = 7
    assert ours.tolist() == [7.0, 1.0, 2.0]
    back = torch.from_dlpack(reference.arange(4.0))
    back.mul_(2)
    assert back.tolist() == [0.0, 2.0, 4.0, 6.0]


def test_dlpack_refuses_what_requires_grad():
    with pytest.raises(BufferError, match="require gradient"):
        np.from_dlpack(torch.ones(2, requires_grad=True))


def test_pickle_and_deepcopy_keep_leaves():
    x = torch.ones(2, requires_grad=True)
    for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert y.is_leaf
        assert y.requires_grad
        assert y.tolist() == [1.0, 1.0]
        assert y.data_ptr() != x.data_ptr()


def test_save_and_load(tmp_path):
    state = {
        "w": torch.ones(2, 3),
        "steps": [1, 2.5, None, "a"],
        "shape": torch.Size([2]),
        "d": torch.float64,
    }
    torch.save(state, tmp_path / "state.pt")
    found = torch.load(tmp_path / "state.pt")
    assert found["steps"] == [1, 2.5, None, "a"]
    assert found["shape"] == (2,)
    assert found["d"] is torch.float64
    assert found["w"].tolist() == state["w"].tolist()


def test_load_never_runs_what_it_loads():
    class Trap:
        def __reduce__(self):
            return print, ("ran",)

    with pytest.raises(RuntimeError, match="something else, or damaged"):
        torch.load(io.BytesIO(pickle.dumps(Trap())))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({"a": Trap()}, 2))
    with pytest.raises(pickle.UnpicklingError, match=r"names __builtin__\.print, which load"):
        torch.load(io.BytesIO(file.getvalue()))
    with pytest.raises(TypeError, match="not a Trap"):
        torch.save(Trap(), io.BytesIO())


def saved_object(module):
    layer = module.nn.Linear(2, 3)
    weight = module.arange(6.0).reshape(2, 3)
    layer.bias.data.copy_(module.arange(3.0))
    layer.weight.data.copy_(module.arange(6.0).reshape(3, 2))
    optimizer = module.optim.Adam(layer.parameters(), lr=0.5)
    layer(module.ones(4, 2)).sum().backward()
    optimizer.step()
    return {
        "model": layer.state_dict(),
        "optimizer": optimizer.state_dict(),
        "twice": [weight, weight],
        "turned": weight.T,
        "parameter": module.nn.Parameter(module.ones(2)),
        "leaf": module.ones(2, requires_grad=True),
        "kinds": [
            module.ones(2, dtype=getattr(module, name))
            for name in (
                "float64",
                "float16",
                "int64",
                "int32",
                "int16",
                "int8",
                "uint8",
                "bool",
                "complex64",
            )
        ],
        "scalar": module.tensor(2.5),
        "empty": module.zeros(0, 3),
        "plain": [1, -5, 1 << 40, 2.5, "text", None, True, (1, ()), 2 - 1j, b"\xff\x00", {3}],
        "size": module.Size([1, 2]),
        "dtype": module.float32,
        "device": module.device("cpu"),
        7: {},
    }


def plain_of(x):
    """An object without tensors: with their dtypes, elements and flags."""
    if hasattr(x, "detach"):
        return type(x).__name__, str(x.dtype), x.requires_grad, x.detach().tolist(), tuple(x.shape)
    if isinstance(x, dict):
        return {k: plain_of(v) for k, v in x.items()}
    if isinstance(x, list | tuple):
        return [plain_of(v) for v in x]
    return str(x) if type(x).__name__ in ("dtype", "device") else x


def test_files_bring_back_what_was_saved():
    file = io.BytesIO()
    torch.save(saved_object(torch), file)
    found = torch.load(io.BytesIO(file.getvalue()))
    assert plain_of(found) == plain_of(saved_object(torch))
    found["twice"][0].add_(1.0)
    assert found["twice"][1][0, 0] == 1.0


@pytest.mark.peers("torch")
def test_files_go_to_pytorch_and_back():
    import torch as pytorch

    file = io.BytesIO()
    torch.save(saved_object(torch), file)
    expected = plain_of(saved_object(pytorch))
    found = pytorch.load(io.BytesIO(file.getvalue()), weights_only=False)
    assert plain_of(found) == expected
    simple = {key: value for key, value in saved_object(torch).items() if key not in ("plain",)}
    file = io.BytesIO()
    torch.save(simple, file)
    assert plain_of(pytorch.load(io.BytesIO(file.getvalue()))) == {k: expected[k] for k in simple}
    file = io.BytesIO()
    pytorch.save(saved_object(pytorch), file)
    assert plain_of(torch.load(io.BytesIO(file.getvalue()))) == expected
    file = io.BytesIO()
    pytorch.save({"b": pytorch.tensor([1.0, -2.5]).bfloat16(), "a": np.arange(6.0).reshape(2, 3).T}, file)
    found = torch.load(io.BytesIO(file.getvalue()))
    assert found["b"].tolist() == [1.0, -2.5]
    np.testing.assert_array_equal(found["a"], np.arange(6.0).reshape(2, 3).T)
    layer = torch.nn.Linear(2, 3)
    layer.load_state_dict(torch.load(io.BytesIO(as_saved(pytorch, pytorch.nn.Linear(2, 3).state_dict()))))


def as_saved(module, obj):
    file = io.BytesIO()
    module.save(obj, file)
    return file.getvalue()


# -- transforms -------------------------------------------------------------------------------------------


def test_grad_takes_tensors():
    gradient = fg.grad(lambda t: (t**3).sum())(torch.tensor([1.0, 2.0]))
    assert isinstance(gradient, torch.Tensor)
    assert gradient.tolist() == [3.0, 12.0]


def test_vmap_takes_tensors():
    found = fg.vmap(lambda t: (t * 2).sum())(torch.ones(3, 2))
    assert found.tolist() == [4.0, 4.0, 4.0]


def test_a_training_step_of_tensors_is_compiled():
    def step(w, x, y):
        w = w.detach().requires_grad_()
        loss = ((x @ w - y) ** 2).mean()
        loss.backward()
        return loss.detach(), w.detach() - 0.1 * w.grad

    x, y = torch.tensor([[1.0, 2.0], [3.0, -1.0]]), torch.tensor([1.0, 0.5])
    jitted = fg.jit(step)
    w = eager = torch.zeros(2)
    for _ in range(3):
        loss, w = jitted(w, x, y)
        want, eager = step(eager, x, y)
        np.testing.assert_allclose(loss.numpy(), want.numpy(), rtol=1e-5)
        np.testing.assert_allclose(w.numpy(), eager.numpy(), rtol=1e-5)


def test_changes_in_place_are_recorded():
    @fg.jit
    def filled(w):
        y = torch.zeros(3)
        y[1:] = w
        y[0].add_(w.sum())
        y.mul_(2)
        return y, y[1]

    y, second = filled(torch.tensor([1.0, 2.0]))
    assert y.tolist() == [6.0, 2.0, 4.0]
    assert second.item() == 2.0


def test_a_module_is_an_argument_of_a_compiled_function():
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    x = torch.ones(4, 2)

    def gradients(model, x):
        loss = (model(x) ** 2).mean()
        return torch.autograd.grad(loss, list(model.parameters()))

    for ours, want in zip(fg.jit(gradients)(model, x), gradients(model, x), strict=True):
        np.testing.assert_allclose(ours.numpy(), want.numpy(), rtol=1e-5)


def test_a_backward_pass_is_one_program():
    x = torch.tensor([0.5, 1.0], requires_grad=True)
    w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    loss = ((w @ x).tanh() ** 2).mean()
    program = torch.autograd.graph.backward_program(loss, [x, w])
    found = program(np.float32(1.0))
    loss.backward()
    for ours, want in zip(found, (x.grad, w.grad), strict=True):
        np.testing.assert_allclose(ours, want.numpy(), rtol=1e-6)


# -- what is kept -----------------------------------------------------------------------------------------


def test_a_history_is_freed_without_the_collector():
    gc.disable()
    try:
        x = torch.ones(1000, requires_grad=True)
        y = x.exp().mul(2).sum()
        node = weakref.ref(y.grad_fn)
        y.backward()
        del y
        assert node() is None
    finally:
        gc.enable()


def test_saved_values_are_freed_after_backward():
    x = torch.ones(3, requires_grad=True)
    y = x * x
    node = y.grad_fn
    y.sum().backward()
    assert node.saved is None


def test_what_a_pullback_does_not_need_is_not_kept():
    x = torch.ones(3, requires_grad=True)
    assert (x + 1).grad_fn.saved == ()
    assert x.sum().grad_fn.saved == ()
    assert len(x.exp().grad_fn.saved) == 1


def test_steps_do_not_accumulate_memory():
    x = torch.ones(10, requires_grad=True)

    def step():
        x.grad = None
        ((x * 2).sin() + x).sum().backward()

    for _ in range(50):
        step()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(300):
        step()
    gc.collect()
    assert len(gc.get_objects()) < before + 100


# -- what is not supported --------------------------------------------------------------------------------


def test_a_dtype_without_numbers_is_a_name():
    names = {"float32": torch.float32, "bfloat16": torch.bfloat16}
    assert str(names["bfloat16"]) == "torch.bfloat16" != str(torch.float32)
    assert isinstance(torch.bfloat16, torch.dtype)
    assert torch.bfloat16.itemsize == 2
    assert torch.bfloat16.is_floating_point
    assert pickle.loads(pickle.dumps(torch.bfloat16)) is torch.bfloat16
    with pytest.warns(UserWarning, match="casts nothing"), torch.autocast("cpu", dtype=torch.bfloat16):
        assert (torch.ones(1) + 1).dtype == torch.float32
    for refused in (
        lambda: torch.ones(2, dtype=torch.bfloat16),
        lambda: torch.ones(2).to(torch.bfloat16),
        lambda: torch.nn.Linear(1, 1).to(torch.bfloat16),
        lambda: torch.set_default_dtype(torch.bfloat16),
    ):
        with pytest.raises(RuntimeError, match=r"dtype=torch\.bfloat16: NumPy has no bfloat16"):
            refused()


@pytest.mark.parametrize("name", ["sparse_coo_tensor", "fx"])
def test_what_is_missing_says_what_to_use(name):
    with pytest.raises(AttributeError, match=f"does not support '{name}'"):
        getattr(torch, name)


def test_devices_say_what_there_is():
    with pytest.raises(RuntimeError, match="there is no CUDA here"):
        torch.zeros(2, device="cuda")


COPIES = [
    lambda x: x.rot90(),
    lambda x: x[:, :1].flip(1),
    lambda x: x[:1].flipud(),
    lambda x: x[:1].logcumsumexp(0),
    lambda x: x[:2].matrix_power(1),
    lambda x: x[:, 0].ravel(),
    torch.chain_matmul,
]


@pytest.mark.parametrize("copied", COPIES)
def test_results_that_are_no_views_have_memory_of_their_own(copied):
    x = torch.arange(6.0).reshape(3, 2)
    copied(x).fill_(9.0)
    assert x.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]


def test_real_numbers_of_complex_ones_are_a_copy():
    x = torch.tensor([1 + 2j])
    with pytest.warns(UserWarning, match="discards the imaginary part"):
        x.float().fill_(9.0)
    assert x.tolist() == [1 + 2j]
