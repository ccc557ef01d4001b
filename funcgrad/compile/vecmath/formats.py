"""The two floating-point formats of the vector mathematics, as numbers that the functions compute with."""

from __future__ import annotations

import struct
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Format:
    """A binary floating-point format and the LLVM types of its values and of their bits."""

    name: str
    real: str
    integer: str
    width: int
    mantissa: int
    bias: int

    @property
    def magic(self) -> float:
        """Adding this to a small number rounds it to an integer, which is then in the sum's low bits."""
        return 1.5 * 2.0**self.mantissa

    @property
    def epsilon(self) -> float:
        """The distance from 1 to the next number."""
        return 2.0**-self.mantissa

    @property
    def least_normal(self) -> float:
        """The smallest normal number."""
        return 2.0 ** (1 - self.bias)

    @property
    def sign_bit(self) -> int:
        """The bit pattern of -0."""
        return 1 << (self.width - 1)

    def nearest(self, value: float) -> float:
        """The number of this format nearest to ``value``."""
        return value if self.width == 64 else float(struct.unpack("f", struct.pack("f", value))[0])

    def bits_of(self, value: float) -> int:
        """The bit pattern of ``value`` in this format."""
        real, integer = ("<d", "<Q") if self.width == 64 else ("<f", "<I")
        return int(struct.unpack(integer, struct.pack(real, value))[0])

    def text(self, value: float) -> str:
        """``value`` as a constant in LLVM's assembly, which writes both formats as the bits of a double."""
        return f"0x{struct.unpack('<Q', struct.pack('<d', self.nearest(value)))[0]:016X}"


F64 = Format("f64", "double", "i64", 64, 52, 1023)
F32 = Format("f32", "float", "i32", 32, 23, 127)
