"""Operations on sparse matrices in compressed rows: products, and solutions of systems."""

from funcgrad.ops.sparse import found as found
from funcgrad.ops.sparse import products as products
from funcgrad.ops.sparse import systems as systems
