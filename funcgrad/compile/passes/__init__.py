"""From a Program to a schedule: expand, hoist, schedule, fuse, divide, place memory, in `kernel`."""
