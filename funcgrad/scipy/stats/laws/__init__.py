"""The distributions, declared: importing this package fills the table of laws."""

from funcgrad.scipy.stats.laws import algebraic as algebraic
from funcgrad.scipy.stats.laws import beta_family as beta_family
from funcgrad.scipy.stats.laws import bounded as bounded
from funcgrad.scipy.stats.laws import counts as counts
from funcgrad.scipy.stats.laws import exponential as exponential
from funcgrad.scipy.stats.laws import extremes as extremes
from funcgrad.scipy.stats.laws import gamma_family as gamma_family
from funcgrad.scipy.stats.laws import normal_family as normal_family
