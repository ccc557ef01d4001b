"""Kernel text to machine code: the translator (`direct`), the words of the language, LLVM, object files."""
