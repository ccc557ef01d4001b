"""From a Python call to a Program and back: arguments, points, results, what transforms return."""
