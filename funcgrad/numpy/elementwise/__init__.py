"""Functions of every element: arithmetic, elementary functions, logic, choice, and how ufuncs are made."""
