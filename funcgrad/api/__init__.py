"""The transforms people call, on plain Python functions of pytrees."""
