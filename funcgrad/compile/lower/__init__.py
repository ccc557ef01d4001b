"""What each family of operations becomes: statements of nests, or steps between them. Registered by class."""
