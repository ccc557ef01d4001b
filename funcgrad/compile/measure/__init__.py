"""What became of a Program on its way to native code, and where the time of a call goes."""
