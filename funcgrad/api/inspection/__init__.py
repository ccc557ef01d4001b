"""Looking at functions: Programs, stages of compilation, times."""
