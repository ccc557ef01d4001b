"""Distributions, divergences, constraints and transforms: made of tables, a case each."""

import itertools

# The constructor, of parameters p and q that want gradients, and values inside of the support.
P, Q = "[0.7, 1.6]", "[1.3, 0.8]"
UNIT = "[0.2, 0.65]"
FAMILIES = {
    "D.Normal(p, q)": "[-0.3, 2.0]",
    "D.Laplace(p, q)": "[-0.3, 2.0]",
    "D.Cauchy(p, q)": "[-0.3, 2.0]",
    "D.Gumbel(p, q)": "[-0.3, 2.0]",
    "D.Uniform(-p, q)": "[0.2, 0.1]",
    "D.Exponential(p)": "[0.2, 3.0]",
    "D.Gamma(p, q)": "[0.2, 3.0]",
    "D.InverseGamma(p + 2, q)": "[0.2, 3.0]",
    "D.Chi2(p)": "[0.2, 3.0]",
    "D.StudentT(p + 2, q, p)": "[0.2, -3.0]",
    "D.FisherSnedecor(p + 4, q + 4)": "[0.2, 3.0]",
    "D.GeneralizedPareto(p, q, q - 1)": "[2.0, 2.5]",
    "D.VonMises(p, q)": "[0.2, 3.0]",
    "D.LogNormal(p, q)": "[0.2, 3.0]",
    "D.HalfNormal(p)": "[0.2, 3.0]",
    "D.HalfCauchy(p)": "[0.2, 3.0]",
    "D.Pareto(p, q + 2)": "[2.0, 3.0]",
    "D.Weibull(p, q)": "[0.2, 3.0]",
    "D.Kumaraswamy(p + 1, q + 1)": UNIT,
    "D.Beta(p, q)": UNIT,
    "D.ContinuousBernoulli(u)": UNIT,
    "D.ContinuousBernoulli(logits=p)": UNIT,
    "D.Bernoulli(u)": "[0.0, 1.0]",
    "D.Bernoulli(logits=p)": "[0.0, 1.0]",
    "D.Geometric(u)": "[0.0, 4.0]",
    "D.Geometric(logits=p)": "[0.0, 4.0]",
    "D.Binomial(5, u)": "[2.0, 5.0]",
    "D.Binomial(5, logits=p)": "[2.0, 5.0]",
    "D.NegativeBinomial(3, u)": "[2.0, 5.0]",
    "D.NegativeBinomial(p, logits=-q)": "[2.0, 5.0]",
    "D.Poisson(p)": "[2.0, 5.0]",
    "D.Categorical(u)": "[0, 1]",
    "D.Categorical(logits=torch.stack([p, q]))": "[1, 0]",
    "D.OneHotCategorical(u)": "[[0.0, 1.0], [1.0, 0.0]]",
    "D.OneHotCategoricalStraightThrough(u)": "[[0.0, 1.0], [1.0, 0.0]]",
    "D.Multinomial(4, u)": "[[1.0, 3.0], [4.0, 0.0]]",
    "D.Dirichlet(torch.stack([p, q]))": "[[0.3, 0.7], [0.6, 0.4]]",
    "D.RelaxedBernoulli(torch.tensor(0.7), u)": UNIT,
    "D.RelaxedOneHotCategorical(torch.tensor(0.7), u)": "[[0.3, 0.7], [0.6, 0.4]]",
    "D.MultivariateNormal(p, torch.diag(q) + 0.1)": "[[0.3, 0.7], [0.6, 0.4]]",
    "D.MultivariateNormal(p, precision_matrix=torch.diag(q) + 0.1)": "[[0.3, 0.7], [0.6, 0.4]]",
    "D.MultivariateNormal(p, scale_tril=torch.diag(q))": "[[0.3, 0.7], [0.6, 0.4]]",
    "D.LowRankMultivariateNormal(p, torch.stack([p, q, u], -1), q)": "[[0.3, 0.7], [0.6, 0.4]]",
    "D.Wishart(3 + p.sum(), torch.diag(q) + 0.1)": "[[2.0, 0.3], [0.3, 1.0]]",
    "D.LKJCholesky(3, p[0])": "[[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.6, 0.8]]",
    "D.LogisticNormal(p, q)": "[[0.3, 0.2, 0.5]]",
    "D.Independent(D.Normal(p, q), 1)": "[[-0.3, 2.0]]",
    "D.TransformedDistribution(D.Normal(p, q), [D.AffineTransform(1.0, -2.0), D.TanhTransform()])": UNIT,
    "D.MixtureSameFamily(D.Categorical(u), D.Normal(p, q))": "0.4",
    "D.MixtureSameFamily(D.Categorical(u), D.Independent(D.Normal(p.expand(2, 2), q), 1))": "[0.4, 0.3]",
}
ASKED = (
    "d.log_prob(v)",
    "d.entropy()",
    "d.mean",
    "d.mode",
    "d.variance",
    "d.stddev",
    "d.cdf(v)",
    "d.icdf(torch.tensor([0.3, 0.9]))",
    "d.enumerate_support()",
    "(d.batch_shape, d.event_shape, repr(d), d.has_rsample, d.has_enumerate_support)",
    "d.expand((3, *d.batch_shape)).log_prob(v)",
    "(d.sample().shape, d.sample((5,)).shape, d.sample((2, 3)).dtype)",
    "d.support.check(d.sample((4,))).all()",
)
CANCELS = {("D.ContinuousBernoulli(u)", "d.variance"), ("D.ContinuousBernoulli(u)", "d.stddev")}
"""Differences of nearly equal numbers: which digits PyTorch has there depends on the processor."""
SETUP = (
    "D = torch.distributions; p = torch.tensor({p}, requires_grad=True); "
    "q = torch.tensor({q}, requires_grad=True); u = torch.tensor({u}, requires_grad=True); "
)
GRADIENT = (
    "\nfor t in (out,):\n    "
    "g = torch.autograd.grad((t * torch.linspace(0.3, 1, t.numel()).reshape(t.shape)).sum(), (p, q, u), "
    "allow_unused=True, materialize_grads=True) if t.requires_grad else None\n(out.detach(), g)"
)
PAIRS = (
    *itertools.product(
        (
            "Normal(p, q)",
            "Laplace(p, q)",
            "Exponential(p)",
            "Gamma(p, q)",
            "Gumbel(p, q)",
            "Uniform(p, p + q)",
        ),
        (
            "Normal(q, p)",
            "Laplace(q, p)",
            "Exponential(q)",
            "Gamma(q, p)",
            "Gumbel(q, p)",
            "Uniform(q - 1, q + 4)",
        ),
    ),
    *itertools.product(
        ("Beta(p, q)", "Pareto(p, q + 2)", "Uniform(u, u + 0.1)", "ContinuousBernoulli(u)", "Exponential(p)"),
        ("Beta(q, p)", "Pareto(p / 2, q)", "Normal(q, p)", "Exponential(q)", "Gamma(q, p)", "Gumbel(p, q)"),
    ),
    ("Bernoulli(u)", "Bernoulli(1 - u)"),
    ("Bernoulli(u)", "Poisson(p)"),
    ("Poisson(p)", "Bernoulli(u)"),
    ("Poisson(p)", "Poisson(q)"),
    ("Binomial(5, u)", "Binomial(5, 1 - u)"),
    ("Categorical(u)", "Categorical(logits=p)"),
    ("OneHotCategorical(u)", "OneHotCategorical(logits=p)"),
    ("Geometric(u)", "Geometric(1 - u)"),
    ("Dirichlet(p)", "Dirichlet(q)"),
    ("Cauchy(p, q)", "Cauchy(q, p)"),
    ("HalfNormal(p)", "HalfNormal(q)"),
    ("LogNormal(p, q)", "LogNormal(q, p)"),
    ("ContinuousBernoulli(u)", "ContinuousBernoulli(1 - u)"),
    ("MultivariateNormal(p, torch.diag(q))", "MultivariateNormal(q, torch.diag(p) + 0.1)"),
    ("MultivariateNormal(p, torch.diag(q))", "LowRankMultivariateNormal(q, u[:, None], p)"),
    ("LowRankMultivariateNormal(p, u[:, None], q)", "MultivariateNormal(q, torch.diag(p))"),
    ("LowRankMultivariateNormal(p, u[:, None], q)", "LowRankMultivariateNormal(q, p[:, None], p)"),
    ("Independent(D.Normal(p, q), 1)", "Independent(D.Normal(q, p), 1)"),
)
TRANSFORMS = {
    "D.ExpTransform()": "[0.3, -1.2]",
    "D.SigmoidTransform()": "[0.3, -1.2]",
    "D.SoftplusTransform()": "[0.3, -1.2]",
    "D.TanhTransform()": "[0.3, -1.2]",
    "D.AbsTransform()": "[0.3, 1.2]",
    "D.PowerTransform(torch.tensor(1.7))": "[0.3, 1.2]",
    "D.AffineTransform(1.0, -2.0)": "[0.3, 1.2]",
    "D.AffineTransform(torch.tensor([1.0, 2.0]), torch.tensor([3.0, -2.0]), event_dim=1)": "[0.3, 1.2]",
    "D.SoftmaxTransform()": "[0.3, 1.2]",
    "D.StickBreakingTransform()": "[0.3, 1.2]",
    "D.LowerCholeskyTransform()": "[[0.3, 1.2], [0.1, 0.9]]",
    "D.PositiveDefiniteTransform()": "[[0.3, 1.2], [0.1, 0.9]]",
    "D.CorrCholeskyTransform()": "[0.3, 0.4, -0.9]",
    "D.CumulativeDistributionTransform(D.Normal(0.0, 2.0))": "[0.3, 1.2]",
    "D.IndependentTransform(D.ExpTransform(), 1)": "[0.3, 1.2]",
    "D.ReshapeTransform((2, 3), (6,))": "[[0.3, 1.2, 1.0], [1.1, 2.0, 3.0]]",
    "D.ComposeTransform([D.AffineTransform(1.0, 2.0), D.ExpTransform()])": "[0.3, 1.2]",
    "D.CatTransform([D.ExpTransform(), D.TanhTransform()], dim=0, lengths=[1, 2])": "[0.3, 1.2, 0.1]",
    "D.StackTransform([D.ExpTransform(), D.TanhTransform()], dim=0)": "[0.3, 1.2]",
    "D.biject_to(D.constraints.positive)": "[0.3, 1.2]",
    "D.biject_to(D.constraints.interval(1.0, 3.0))": "[0.3, 1.2]",
    "D.biject_to(D.constraints.greater_than(2.0))": "[0.3, 1.2]",
    "D.biject_to(D.constraints.less_than(2.0))": "[0.3, 1.2]",
    "D.biject_to(D.constraints.simplex)": "[0.3, 1.2]",
    "D.transform_to(D.constraints.simplex)": "[0.3, 1.2]",
    "D.transform_to(D.constraints.unit_interval)": "[0.3, 1.2]",
    "D.transform_to(D.constraints.real)": "[0.3, 1.2]",
    "D.biject_to(D.constraints.corr_cholesky)": "[0.3, 0.4, -0.9]",
}
MAPPED = (
    "t(x)",
    "t.inv(t(x).clone())",
    "t.log_abs_det_jacobian(x, t(x))",
    "(tuple(t.forward_shape(tuple(x.shape))), t.bijective, t.domain.event_dim, t.codomain.event_dim)",
    "t.sign",
    "t.inv.log_abs_det_jacobian(t(x), x)",
)
OTHERS = r"""
torch.distributions.Normal(0.0, -1.0)
torch.distributions.Normal(torch.zeros(2), torch.tensor([1.0, 0.0]))
torch.distributions.Normal(0.0, -1.0, validate_args=False).scale
torch.distributions.Bernoulli(0.3).log_prob(torch.tensor(0.5))
torch.distributions.Bernoulli()
torch.distributions.Categorical(torch.tensor([0.2, 0.3])).probs
torch.distributions.Categorical(torch.tensor([[0.2, 0.3], [1.0, 0.0]])).log_prob(torch.tensor(3))
torch.distributions.Normal(torch.zeros(3), 1.0).log_prob(torch.zeros(2))
torch.distributions.Normal(torch.zeros(3), 1.0).log_prob(0.0)
torch.distributions.Uniform(1.0, 0.0)
torch.distributions.MultivariateNormal(torch.zeros(2))
torch.distributions.Independent(torch.distributions.Normal(0.0, 1.0), 1)
torch.distributions.kl_divergence(torch.distributions.Cauchy(0.0, 1.0), torch.distributions.Poisson(1.0))
[repr(c) for c in (torch.distributions.constraints.positive, torch.distributions.constraints.simplex, torch.distributions.constraints.interval(0, 2), torch.distributions.constraints.real_vector)]
torch.distributions.Bernoulli(torch.tensor([0.2, 0.5])).logits
torch.distributions.Normal(torch.zeros(2, dtype=torch.float64), 1.0).log_prob(torch.zeros(2, dtype=torch.float64))
"""  # noqa: E501 - a table


def cases():
    """``(name, code)`` of every case."""
    setup = SETUP.format(p=P, q=Q, u=UNIT)
    for family, value in FAMILIES.items():
        start = f"{setup}d = {family}; v = torch.tensor({value}); out = "
        for asked in ASKED:
            if (family, asked) in CANCELS:
                continue
            plain = asked.startswith(("(", "d.support", "d.enumerate"))
            code = start + asked + ("; out" if plain else GRADIENT)
            yield code, code
    for p, q in PAIRS:
        code = f"{setup}out = D.kl_divergence(D.{p}, D.{q})" + GRADIENT
        yield code, code
    for transform, value in TRANSFORMS.items():
        start = f"{setup}x = torch.tensor({value}, requires_grad=True); p = x; t = {transform}; out = "
        for mapped in MAPPED:
            plain = mapped.startswith("(") or mapped == "t.sign"
            code = start + mapped + ("; out" if plain else GRADIENT)
            yield code, code
    for line in OTHERS.strip().splitlines():
        yield line, line
