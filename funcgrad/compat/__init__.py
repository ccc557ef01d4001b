"""Other libraries' interfaces, translated to public functions of ours. Owns no derivative."""
