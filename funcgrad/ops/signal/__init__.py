"""Windows, convolutions, filters and Fourier transforms."""
