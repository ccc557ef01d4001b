"""The compiler: Programs become native code. The only layer that knows LLVM and Numba.

The folders in the order in which a Program goes through them:

- `passes`: expand, hoist, schedule into nests, fuse, divide between threads, place memory; `passes.kernel` is
  the order.
- `lower`: what each family of operations becomes there.
- `emit`: the schedule as text, plain Python over numbers and views, with the user's lines.
- `language`: the words of that text, a row each: what a word means, and what either engine makes of it.
- `engines`: the text as LLVM modules, by our own translator (`direct`) or by Numba's front end (`numba`), and
  those as machine code; `vecmath` has the vector mathematics that is linked in.
- `runtime`: calls, memory, threads, signals, the disk cache, and when un-jitted Programs are compiled.
- `measure`: `explain` and `profile`.
"""
