"""Python's loops and branches, recorded as blocks: what they carry, go over and change."""
