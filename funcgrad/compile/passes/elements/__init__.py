"""Elements of arrays that loops change: which are never the same one, and which become numbers."""
