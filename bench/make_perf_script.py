#!/usr/bin/env python3
"""Writes what perf script prints, to measure readers with: the same bytes for the same arguments.

  make_perf_script.py FILE [SAMPLES [DISTINCT]]   1,250,000 samples of 20,000 distinct stacks, 188 MB

Half of the samples are of leaves alone and the others up to 9 deep, as of a program built without frame
pointers for a part; addresses differ within a function.
"""
import random
import sys

from make_folded import names


def frames(rng, function_count=3000):
    """Texts of frames: each function at some addresses."""
    out = []
    for i, name in enumerate(names(rng, function_count)):
        module = "/usr/lib/x86_64-linux-gnu/lib%d.so.6" % (i % 7) if i % 3 else "/usr/bin/program"
        for _ in range(rng.randint(1, 8)):
            offset = rng.randrange(1, 4096)
            out.append("\t%16x %s+0x%x (%s)\n" % (0x10000 + i * 4096 + offset, name, offset, module))
    return out


def stacks(rng, count):
    table = frames(rng)
    out = []
    for _ in range(count):
        depth = 1 if rng.random() < 0.9 else rng.randint(2, 4)
        out.append("".join(table[int(rng.random() ** 3 * len(table))] for _ in range(depth)))
    return out


def write(out, samples=1_250_000, distinct=20_000):
    rng = random.Random(4)
    pool = stacks(rng, distinct)
    threads = ["program  4001/%d " % (4001 + i) for i in range(8)]
    time = 5_000_000_000
    for i in range(samples):
        time += rng.randint(100, 400)
        out.write("%s [%03d] %d.%06d:     250000 cpu-clock:u: \n%s\n" % (
            threads[i & 7], i & 3, time // 1_000_000, time % 1_000_000, pool[int(rng.random() ** 2 * distinct)]))


def main(path, *counts):
    with open(path, "w", encoding="utf-8") as out:
        write(out, *map(int, counts))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
