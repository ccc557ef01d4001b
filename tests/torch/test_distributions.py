"""Draws of distributions: their moments, and derivatives that move with the quantiles."""

from __future__ import annotations

import numpy as np
import pytest

from funcgrad import torch

D = torch.distributions
COUNT = 40_000
FAMILIES = [
    D.Normal(0.5, 2.0),
    D.Laplace(0.5, 2.0),
    D.Gumbel(0.5, 2.0),
    D.Uniform(-1.0, 2.0),
    D.Exponential(0.7),
    D.Gamma(2.5, 0.7),
    D.Gamma(0.4, 0.7),
    D.InverseGamma(6.0, 2.0),
    D.Chi2(3.0),
    D.StudentT(8.0, 0.5, 2.0),
    D.FisherSnedecor(5.0, 12.0),
    D.GeneralizedPareto(0.5, 1.0, 0.1),
    D.LogNormal(0.1, 0.5),
    D.HalfNormal(2.0),
    D.Pareto(1.0, 6.0),
    D.Weibull(1.5, 2.0),
    D.Kumaraswamy(2.0, 1.5),
    D.Beta(2.0, 1.5),
    D.ContinuousBernoulli(0.3),
    D.Bernoulli(0.3),
    D.Geometric(0.3),
    D.Binomial(7, 0.3),
    D.NegativeBinomial(4, 0.3),
    D.Poisson(3.0),
    D.OneHotCategorical(torch.tensor([0.2, 0.5, 0.3])),
    D.Multinomial(5, torch.tensor([0.2, 0.5, 0.3])),
    D.Dirichlet(torch.tensor([0.5, 1.5, 2.0])),
    D.MultivariateNormal(torch.tensor([1.0, 2.0]), torch.tensor([[2.0, 0.3], [0.3, 1.0]])),
    D.LowRankMultivariateNormal(torch.tensor([1.0, 2.0]), torch.ones(2, 1), torch.tensor([1.0, 0.5])),
    D.Wishart(torch.tensor(5.0), torch.tensor([[1.0, 0.3], [0.3, 1.0]])),
    D.MixtureSameFamily(
        D.Categorical(torch.tensor([0.3, 0.7])), D.Normal(torch.tensor([-1.0, 2.0]), torch.ones(2))
    ),
]


@pytest.mark.parametrize("d", FAMILIES, ids=repr)
def test_draws_have_the_moments_of_the_family(d: D.Distribution) -> None:
    torch.manual_seed(0)
    draws = d.sample((COUNT,)).numpy()
    deviation = np.sqrt(d.variance.detach().numpy())
    np.testing.assert_allclose(
        draws.mean(0), d.mean.detach().numpy(), atol=np.max(5 * deviation) / COUNT**0.5
    )
    np.testing.assert_allclose(draws.std(0), deviation, rtol=0.12)


@pytest.mark.parametrize(
    ("make", "parameters"),
    [
        (D.Normal, (0.5, 2.0)),
        (D.Laplace, (0.5, 2.0)),
        (D.Cauchy, (0.5, 2.0)),
        (D.Gumbel, (0.5, 2.0)),
        (D.Uniform, (0.5, 2.0)),
        (D.Exponential, (0.5,)),
        (D.Gamma, (2.5, 0.7)),
        (D.Gamma, (0.3, 0.7)),
        (D.InverseGamma, (2.5, 0.7)),
        (D.LogNormal, (0.5, 2.0)),
        (D.Weibull, (1.5, 2.0)),
        (D.Pareto, (1.0, 2.0)),
        (D.Kumaraswamy, (2.0, 1.5)),
        (D.GeneralizedPareto, (0.5, 1.0, 0.2)),
        (D.ContinuousBernoulli, (0.3,)),
    ],
)
def test_draws_move_with_their_quantiles(make: type, parameters: tuple[float, ...]) -> None:
    """A draw stays at its probability: dz/dp = -(dF/dp) / density, with F's slope by a difference."""
    torch.manual_seed(1)
    given = [torch.tensor(p, dtype=torch.float64, requires_grad=True) for p in parameters]
    z = make(*given).rsample()
    slopes = torch.autograd.grad(z, given, allow_unused=True)
    z = z.detach()
    density = make(*given, validate_args=False).log_prob(z).exp().detach()
    for k, slope in enumerate(slopes):
        sides = []
        for step in (1e-5, -1e-5):
            moved = [torch.tensor(p + step * (j == k), dtype=torch.float64) for j, p in enumerate(parameters)]
            sides.append(make(*moved, validate_args=False).cdf(z))
        expected = -(sides[0] - sides[1]) / 2e-5 / density
        found = 0.0 if slope is None else float(slope)
        np.testing.assert_allclose(found, float(expected), rtol=1e-4, atol=1e-6)


def test_derivatives_of_gamma_draws_have_none_themselves() -> None:
    a = torch.tensor(2.0, requires_grad=True)
    (slope,) = torch.autograd.grad(D.Gamma(a * a, 1.0).rsample(), a, create_graph=True)
    with pytest.raises(NotImplementedError, match="_standard_gamma_grad"):
        slope.backward()


def test_a_user_registers_a_divergence() -> None:
    class Mine(D.Normal):
        pass

    @D.register_kl(Mine, D.Normal)
    def mine(p: Mine, q: D.Normal) -> float:
        return 42.0

    assert D.kl_divergence(Mine(0.0, 1.0), D.Normal(0.0, 1.0)) == 42.0
    assert float(D.kl_divergence(D.Normal(0.0, 1.0), Mine(0.0, 1.0))) == 0.0


def test_a_variational_step_goes_down() -> None:
    torch.manual_seed(0)
    loc = torch.tensor(3.0, requires_grad=True)
    log_scale = torch.tensor(0.5, requires_grad=True)
    optimizer = torch.optim.Adam([loc, log_scale], lr=0.05)
    for _ in range(400):
        q = D.Normal(loc, log_scale.exp())
        z = q.rsample((16,))
        loss = -(D.Normal(-1.0, 0.5).log_prob(z).mean() + q.entropy())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    np.testing.assert_allclose([loc.item(), log_scale.exp().item()], [-1.0, 0.5], atol=0.15)


def test_the_import_paths_of_families() -> None:
    from funcgrad.torch.distributions.categorical import Categorical
    from funcgrad.torch.distributions.multivariate_normal import MultivariateNormal
    from funcgrad.torch.distributions.utils import broadcast_all

    assert (Categorical, MultivariateNormal) == (D.Categorical, D.MultivariateNormal)
    assert [t.shape for t in broadcast_all(torch.ones(2), 3.0)] == [(2,), (2,)]
