#!/usr/bin/env python3
"""Writes folded stacks to measure readers with: the same bytes for the same arguments.

  make_folded.py wide FILE [LINES [DISTINCT]]   500,000 lines of 100,000 distinct stacks, 239 MB
  make_folded.py deep FILE [SAMPLES [DEPTH]]    a recursion: 1,000,000 samples, up to 2,000 deep
  make_folded.py chain FILE [DEPTH]             functions that call the next, a sample in each: 8,000, 188 MB
  make_folded.py unique FILE [LINES]            every stack once, in random order
  make_folded.py broad FILE [LINES]             every stack once, 8 to 60 deep, of 20,000 functions
  make_folded.py letters FILE [LINES [DEPTH]]   2,000 stacks of 300 frames of a and b, for WHEN patterns
"""
import random
import sys


def names(rng, count):
    words = ["parse", "eval", "node", "list", "hash", "emit", "visit", "resolve", "string", "buffer",
             "scope", "type", "match", "insert", "lower", "fold"]
    out = []
    for i in range(count):
        parts = rng.sample(words, rng.randint(2, 4))
        out.append("%s::%s_%d" % (parts[0], "_".join(parts[1:]), i))
    return out


def random_stacks(rng, count, depth_low, depth_high, name_count=5000):
    """Each keeps a random prefix of the one before, so that they make a tree as real ones do."""
    table = names(rng, name_count)
    stack, seen = [], set()
    while len(seen) < count:
        keep = rng.randint(0, len(stack))
        depth = rng.randint(depth_low, depth_high)
        stack = stack[:min(keep, depth)]
        while len(stack) < depth:
            stack.append(table[int(rng.random() ** 3 * name_count)])
        text = ";".join(stack)
        if text not in seen:
            seen.add(text)
            yield text


def write_wide(out, lines=500_000, distinct=100_000):
    rng = random.Random(1)
    stacks = list(random_stacks(rng, distinct, 9, 34))
    for i in range(lines):
        text = stacks[i] if i < distinct else stacks[rng.randrange(distinct)]
        out.write("%s %d\n" % (text, rng.randint(1, 100)))


def write_deep(out, samples=1_000_000, depth=2_000):
    rng = random.Random(2)
    counts = [0] * depth
    for _ in range(samples):
        counts[rng.randrange(depth)] += 1
    for i, count in enumerate(counts):
        out.write("main;%s %d\n" % (";".join((["eval", "apply"] * depth)[: i + 1]), count))


def write_chain(out, depth=8_000):
    text = "f0"
    for i in range(1, depth):
        out.write("%s 1\n" % text)
        text += ";f%d" % i
    out.write("%s 1\n" % text)


def write_unique(out, lines=100_000):
    rng = random.Random(3)
    stacks = list(random_stacks(rng, lines, 9, 32))
    rng.shuffle(stacks)
    for text in stacks:
        out.write("%s 1\n" % text)


def write_broad(out, lines=100_000):
    rng = random.Random(4)
    for text in random_stacks(rng, lines, 8, 60, 20_000):
        out.write("%s %d\n" % (text, rng.randint(1, 100)))


def write_letters(out, lines=2_000, depth=300):
    rng = random.Random(5)
    for _ in range(lines):
        out.write("%s %d\n" % (";".join(rng.choice("ab") for _ in range(depth)), rng.randint(1, 9)))


KINDS = {"wide": write_wide, "deep": write_deep, "chain": write_chain, "unique": write_unique, "broad": write_broad,
         "letters": write_letters}


def main(args):
    if len(args) < 2 or args[0] not in KINDS:
        sys.exit(__doc__)
    with open(args[1], "w", encoding="ascii") as out:
        KINDS[args[0]](out, *map(int, args[2:]))


if __name__ == "__main__":
    main(sys.argv[1:])
