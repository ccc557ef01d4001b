"""What notebooks show: Programs, kernels and histories as pages and pictures.

Everything here is text that needs no JavaScript and no network. `html` and `theme` are what all pages share;
the data names what draws it (`funcgrad.ir.presenters`), so nothing below imports this package.
"""
