"""Steps to steps: joined over rows, divided between threads, brought together in tiles, given memory."""
