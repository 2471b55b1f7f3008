#!/usr/bin/env python3
"""Writes a file of speedscope to measure the reader with: the same bytes for the same arguments.

  make_speedscope.py sampled|evented FILE [COUNT [STACKS]]

sampled: 1,000,000 samples of 20,000 distinct stacks, 8 to 60 frames of 5,000 functions: 130 MB or so.
evented: 2,000,000 events of calls that open and close, up to 60 deep: 100 MB or so.
"""
import random
import sys

FUNCTIONS = 5000
STACKS = 20_000


def put_head(out, kind, count):
    out.write('{"exporter":"speedscope@1.22.2","name":"made","activeProfileIndex":0,'
              '"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[')
    out.write(",".join('{"name":"some_space::function_%d(unsigned long)","file":"/src/part%d.cc","line":%d}'
                       % (i, i % 50, i % 900 + 1) for i in range(FUNCTIONS)))
    out.write(']},"profiles":[{"type":"%s","name":"main (tid 1)","unit":"microseconds","startValue":0,'
              '"endValue":%d,' % (kind, count * 100))


def made_stacks(rng, count):
    """Each goes along with an earlier one for a while, as the stacks of a program do."""
    stacks = [[0]]
    for _ in range(count):
        before = stacks[rng.randrange(len(stacks))]
        depth = rng.randrange(8, 61)
        stack = before[:rng.randrange(1, len(before) + 1)][:depth]
        while len(stack) < depth:
            stack.append(rng.randrange(FUNCTIONS))
        stacks.append(stack)
    return ["[%s]" % ",".join(map(str, stack)) for stack in stacks[1:]]


def put_samples(out, rng, count, distinct=STACKS):
    stacks = made_stacks(rng, distinct)
    out.write('"samples":[')
    out.write(",".join(stacks[rng.randrange(distinct)] for _ in range(count)))
    out.write('],"weights":[')
    out.write(",".join(str(rng.randrange(90, 110)) for _ in range(count)))
    out.write("]")


def put_events(out, rng, count):
    open_frames, at = [], 0.0
    out.write('"events":[')
    for i in range(count // 2 * 2):
        at += rng.random()
        must_close = len(open_frames) >= count // 2 * 2 - i
        if open_frames and (must_close or len(open_frames) == 60 or rng.random() < 0.5):
            sign, frame = "C", open_frames.pop()
        else:
            # Few different callees a frame, so that stacks come again.
            caller = open_frames[-1] if open_frames else 0
            sign, frame = "O", (caller * 7 + rng.randrange(3)) % FUNCTIONS
            open_frames.append(frame)
        out.write('%s{"type":"%s","at":%.3f,"frame":%d}' % ("," if i else "", sign, at, frame))
    out.write("]")


def main(kind, path, count=None, *stacks):
    rng = random.Random(7)
    is_sampled = kind == "sampled"
    count = count or (1_000_000 if is_sampled else 2_000_000)
    with open(path, "w", encoding="utf-8") as out:
        put_head(out, kind, count)
        (put_samples if is_sampled else put_events)(out, rng, count, *stacks)
        out.write("}]}\n")


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("sampled", "evented"):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
