"""The command ``python -m funcgrad``: what is installed, a guided run, a quick benchmark, the cache.

Everything here speaks to somebody at a terminal. It uses the public interface,
as a reader's own script would.
"""
