"""Special functions beyond those of `funcgrad.ops.elementwise.special`: values and derivatives as tables."""

from funcgrad.ops.specials import bessel as bessel
from funcgrad.ops.specials import beta_slope as beta_slope
from funcgrad.ops.specials import distributions as distributions
from funcgrad.ops.specials import elliptic as elliptic
from funcgrad.ops.specials import errors as errors
from funcgrad.ops.specials import exprel as exprel
from funcgrad.ops.specials import gamma as gamma
from funcgrad.ops.specials import hypergeometric as hypergeometric
from funcgrad.ops.specials import incomplete as incomplete
from funcgrad.ops.specials import integrals as integrals
from funcgrad.ops.specials import plain as plain
from funcgrad.ops.specials import powers as powers
from funcgrad.ops.specials import zeta as zeta
