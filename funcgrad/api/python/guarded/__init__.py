"""What a recorded function relies on, held and tested on every call."""
