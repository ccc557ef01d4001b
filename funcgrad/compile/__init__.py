"""The compiler: Programs become native code. The only layer that knows LLVM and Numba.

The passes in the order in which a Program goes through them, and the folders around them:

- `passes.rewriting`, a Program to equal Programs: `expand` (which calls `fixed_places` and `hoisting`),
  `kept_elements`; then, of what becomes one kernel (`passes.segments`), `tiles_of_lanes` (by
  `lanes_of_programs` and `lane_rules`), `shifted_sums`, `joined_parts`, `scalars_first`.
- `passes.scheduling`, equations to steps: `schedule`, with `taking_over`; `lower` is what each family of
  operations becomes there, and `lower.held_programs` what bodies of loops go through before:
  `factors_doubled`, `nearest_last`, `totals_in_place`, `reads_first`.
- `passes.arranging`, steps to steps: `fusion`, `dividing`, `grouping`, `tiling`, `memory`.
- `emit`: the steps as text, plain Python over numbers and views, with the user's lines.
- `language`: the words of that text, a row each: what a word means, and what either engine makes of it.
- `engines`: the text as LLVM modules, by our own translator (`direct`) or by Numba's front end (`numba`), and
  those as machine code; `vecmath` has the vector mathematics that is linked in.
- `runtime`: calls, memory, threads, signals, the disk cache, and when un-jitted Programs are compiled.
- `export`: the steps as text for other processes; `measure`: `explain` and `profile`.

`passes.pipeline` is the order up to the steps, for kernels and exports alike; `passes.kernel` the rest.
"""
