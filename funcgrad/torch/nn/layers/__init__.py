"""The layers: modules with parameters for the functions of ``torch.nn.functional``."""
