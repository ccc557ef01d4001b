"""Engines that carry shards: threads, processes of this machine, other executors, Dask, MPI."""
