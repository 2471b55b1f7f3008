#!/usr/bin/env python3
"""Writes a callgrind.out to measure the reader with: the same bytes for the same arguments.

  make_callgrind.py FILE [PLACES [PARTS]]

280,000 places with costs in 20,000 functions of 40 objects, three events, the same five times as parts, with
a call behind every fifth cost line: 36 MB.  Names are compressed and lines are relative, as callgrind writes them.
"""
import random
import sys

FUNCTIONS = 20_000
FILES = 1_500
OBJECTS = 40


class Names:
    """"(ID) NAME" where a name is first, "(ID)" after."""

    def __init__(self, shape):
        self.shape, self.seen = shape, {}

    def of(self, number):
        if number in self.seen:
            return "(%d)" % self.seen[number]
        self.seen[number] = len(self.seen) + 1
        return "(%d) %s" % (self.seen[number], self.shape % number)


def functions(rng):
    """Of each: its object, file, first line."""
    files = [(i % OBJECTS, i) for i in range(FILES)]
    made = [(*rng.choice(files), rng.randrange(10, 3000)) for _ in range(FUNCTIONS)]
    return sorted(made)


def places(rng, count, first):
    """Of one function: (line, its own file or a header's that is inlined, whom it calls or None)."""
    line = first
    for _ in range(count):
        line += rng.choice((0, 1, 1, 1, 2, 3, 9)) or 1
        header = rng.randrange(FILES) if rng.random() < 0.05 else None
        yield line, header, rng.randrange(FUNCTIONS) if rng.random() < 0.2 else None


class Part:
    def __init__(self, out, rng, files, names, objects, made):
        self.out, self.random, self.line, self.place = out, rng.random, None, (None, None)
        self.files, self.names, self.objects, self.made = files, names, objects, made
        self.sum = [0, 0, 0]

    def cost(self, line, inclusive=1):
        cost = [int(self.random() ** 4 * 3000) * inclusive, int(self.random() * 40), int(self.random() * 20)]
        shown = "%d" % line if self.line is None else "*" if line == self.line else "%+d" % (line - self.line)
        self.line = line
        self.out.append("%s %d %d %d\n" % (shown, *cost))
        if inclusive == 1:
            self.sum = [a + b for a, b in zip(self.sum, cost)]

    def call(self, line, own, callee):
        obj, file, first = self.made[callee]
        if obj != own[0]:
            self.out.append("cob=%s\n" % self.objects.of(obj))
        if file != own[1]:
            self.out.append("cfi=%s\n" % self.files.of(file))
        self.out.append("cfn=%s\ncalls=%d %d\n" % (self.names.of(callee), 1 + int(self.random() * 90), first))
        self.cost(line, 1000)

    def function(self, number, body):
        own = self.made[number]
        if own[0] != self.place[0]:
            self.out.append("ob=%s\n" % self.objects.of(own[0]))
        if own[1] != self.place[1]:
            self.out.append("fl=%s\n" % self.files.of(own[1]))
        self.place = own[:2]
        self.out.append("fn=%s\n" % self.names.of(number))
        for line, header, callee in body:
            if header is not None:
                self.out.append("fi=%s\n" % self.files.of(header))
            self.cost(line)
            if header is not None:
                self.out.append("fe=%s\n" % self.files.of(own[1]))
            if callee is not None:
                self.call(line, own, callee)
        self.out.append("\n")


def main(path, count=280_000, parts=5):
    rng = random.Random(7)
    made = functions(rng)
    each, more = divmod(count, FUNCTIONS)
    bodies = [list(places(rng, each + (i < more), own[2])) for i, own in enumerate(made)]
    files, names = Names("/build/src/module_%d.cc"), Names("_ZN5space14function_%05dEiPKc")
    objects = Names("/usr/lib/x86_64-linux-gnu/lib%d.so.1")
    with open(path, "w", encoding="utf-8") as out:
        out.write("# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: 4711\ncmd: ./app\n")
        for part in range(1, parts + 1):
            p = Part([], rng, files, names, objects, made)
            for i, body in enumerate(bodies):
                p.function(i, body)
            out.write("part: %d\n\n\npositions: line\nevents: Ir Dr Dw\n\n" % part)
            out.writelines(p.out)
            out.write("totals: %d %d %d\n" % tuple(p.sum))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
