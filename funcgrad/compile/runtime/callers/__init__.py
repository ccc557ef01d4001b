"""How machine code is called from Python."""
