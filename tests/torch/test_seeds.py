"""The two programs the project began from, cell by cell, with only the import changed."""

import re

import numpy as np
import pytest

import funcgrad.torch as torch


def test_gradients_accumulate():
    x = torch.ones(1, requires_grad=True)
    assert repr(x) == "tensor([1.], requires_grad=True)"
    y, z = x**2, x**3
    y.backward()
    assert repr(x.grad) == "tensor([2.])"
    z.backward()
    assert repr(x.grad) == "tensor([5.])"


def test_in_the_other_order():
    x = torch.ones(1, requires_grad=True)
    y, z = x**2, x**3
    z.backward()
    assert repr(x.grad) == "tensor([3.])"
    y.backward()
    assert repr(x.grad) == "tensor([5.])"


def test_the_gradient_can_be_set_back_to_zero():
    x = torch.ones(1, requires_grad=True)
    y, z = x**2, x**3
    y.backward()
    assert repr(x.grad) == "tensor([2.])"
    assert repr(x.grad.zero_()) == "tensor([0.])"
    z.backward()
    assert repr(x.grad) == "tensor([3.])"


def test_the_vector_version():
    torch.manual_seed(0)
    x = torch.rand((2, 1), requires_grad=True)
    assert re.fullmatch(r"tensor\(\[\[0\.\d{4}\],\n {8}\[0\.\d{4}\]\], requires_grad=True\)", repr(x))
    y = torch.zeros(3, 1)
    y[0] = x[0] ** 2
    y[1] = x[1] ** 3
    y[2] = x[1] ** 4
    y.backward(gradient=torch.ones(y.size()))
    a, b = x.detach().numpy()[:, 0]
    np.testing.assert_allclose(x.grad.numpy()[:, 0], [2 * a, 3 * b**2 + 4 * b**3], rtol=1e-6)
    parts = (2 * x[0], 3 * x[1] ** 2, 4 * x[1] ** 3)
    np.testing.assert_allclose([t.item() for t in parts], [2 * a, 3 * b**2, 4 * b**3], rtol=1e-6)
    two = (2 * x[0], 3 * x[1] ** 2 + 4 * x[1] ** 3)
    np.testing.assert_allclose([t.item() for t in two], x.grad.numpy()[:, 0], rtol=1e-6)


PLAIN = "0.4139, 0.8000, 0.7144, 0.3358, 0.7892, 0.6328, 0.1489, 0.4234, 0.3254, 0.2530"
WITH_GRAD = "0.6628, 0.4319, 0.2934, 0.6871, 0.8195, 0.5396, 0.0580, 0.9034, 0.8306, 0.5603"


def numbers(text):
    return [float(part) for part in text.split(",")]


def test_the_notebook(capsys):
    # The notebook's draws, as far as it prints them.
    x = torch.tensor(numbers(PLAIN))
    assert repr(x) == f"tensor([{PLAIN[:-8]},\n        0.2530])"
    x_with_grad = torch.tensor(numbers(WITH_GRAD), requires_grad=True)
    assert repr(x_with_grad) == f"tensor([{WITH_GRAD[:-8]},\n        0.5603], requires_grad=True)"
    assert re.fullmatch(r"tensor\(0\.28\d\d\)", repr((x**2).mean()))
    assert re.fullmatch(r"tensor\(0\.3970, grad_fn=<MeanBackward0>\)", repr((x_with_grad**2).mean()))
    res = (x_with_grad**2).mean()
    assert re.fullmatch(r"<MeanBackward0 object at 0x[0-9a-f]+>", repr(res.grad_fn))
    name = r"<built-in method name of MeanBackward0 object at 0x[0-9a-f]+>"
    assert re.fullmatch(name, repr(res.grad_fn.name))
    res.backward()
    nine = "0.1326, 0.0864, 0.0587, 0.1374, 0.1639, 0.1079, 0.0116, 0.1807, 0.1661"
    gradient = f"tensor([{nine},\n        0.1121])"
    assert repr(x_with_grad.grad) == gradient
    assert repr(x_with_grad / 10 * 2) == gradient[:-1] + ", grad_fn=<MulBackward0>)"
    close = torch.isclose(x_with_grad.grad, x_with_grad / 10 * 2, atol=1e-8)
    assert repr(close) == "tensor([True, True, True, True, True, True, True, True, True, True])"


def test_backward_twice_is_refused():
    res = (torch.rand(10, requires_grad=True) ** 2).mean()
    res.backward()
    with pytest.raises(RuntimeError) as caught:
        res.backward()
    assert str(caught.value) == (
        "Trying to backward through the graph a second time (or directly access saved tensors after they "
        "have already been freed). Saved intermediate values of the graph are freed when you call "
        ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph "
        "a second time or if you need to access saved tensors after calling backward."
    )
