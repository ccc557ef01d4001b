"""Elements and parts by their places: read, chosen, written, combined."""
