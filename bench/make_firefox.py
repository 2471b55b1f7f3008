#!/usr/bin/env python3
"""Writes a processed profile of the Firefox Profiler (version 66) to measure the reader with: the same
bytes for the same arguments.

  make_firefox.py FILE [SAMPLES [STACKS [MARKERS]]]

1,600,000 samples in 8 threads, 500,000 stacks and 800,000 markers: 155 MB.  In what browsers capture, and
samply of programs with markers, these are the larger part; without them (0) a file is samples and tables.
"""
import json
import random
import sys

THREADS = 8
FRAMES = 50_000
FUNCTIONS = 10_000
LIBS = 20


def put_column(out, name, values, last=False):
    out.write('"%s":[' % name)
    out.write(",".join(values))
    out.write("]" if last else "],")


def put_table(out, name, columns, length):
    out.write('"%s":{"length":%d,' % (name, length))
    for i, (column, values) in enumerate(columns.items()):
        put_column(out, column, values, i + 1 == len(columns))
    out.write("},")


def numbers(values):
    return [str(v) for v in values]


def put_shared(out, rng, stacks):
    out.write('"shared":{')
    names = ["lib%d.so" % i for i in range(LIBS)] + \
        ["some_space::function_%d(unsigned long, std::string const&)" % i for i in range(FUNCTIONS)]
    # Each stack is called from one not far before it, so that they make a tree as real ones do.
    put_table(out, "stackTable", {
        "frame": numbers(rng.randrange(FRAMES) for _ in range(stacks)),
        "prefixOffset": numbers(0 if i == 0 else min(i, 1 + int(rng.random() ** 3 * 1000)) for i in range(stacks)),
    }, stacks)
    none, zero = ["null"] * FRAMES, ["0"] * FRAMES
    put_table(out, "frameTable", {
        "address": numbers(rng.randrange(1, 1 << 24) for _ in range(FRAMES)), "inlineDepth": zero,
        "category": ["1"] * FRAMES, "subcategory": zero,
        "func": numbers(rng.randrange(FUNCTIONS) for _ in range(FRAMES)), "nativeSymbol": none,
        "innerWindowID": none, "line": numbers(rng.randrange(1, 3000) for _ in range(FRAMES)), "column": none,
        "originalLocation": none,
    }, FRAMES)
    none, false = ["null"] * FUNCTIONS, ["false"] * FUNCTIONS
    put_table(out, "funcTable", {
        "name": numbers(range(LIBS, LIBS + FUNCTIONS)), "isJS": false, "relevantForJS": false,
        "resource": numbers(rng.randrange(LIBS) for _ in range(FUNCTIONS)), "source": none, "lineNumber": none,
        "columnNumber": none, "originalLocation": none,
    }, FUNCTIONS)
    put_table(out, "resourceTable", {"lib": numbers(range(LIBS)), "name": numbers(range(LIBS)),
                                     "host": ["null"] * LIBS, "type": ["1"] * LIBS}, LIBS)
    out.write('"stringArray":%s},' % json.dumps(names))


def put_thread(out, rng, number, samples, stacks):
    out.write(json.dumps({"name": "worker %d" % number, "pid": "4711", "tid": 4711 + number, "processName": "app",
                          "isMainThread": number == 0, "registerTime": 0.0, "processStartupTime": 0.0})[:-1])
    out.write(',"samples":{"length":%d,' % samples)
    # A stack is added with the first sample that has it, so most are of stacks that came just before.
    put_column(out, "stack", numbers(
        (i * stacks // samples) - int(rng.random() ** 8 * (i * stacks // samples)) for i in range(samples)))
    put_column(out, "timeDeltas", ["%.6f" % (0.9 + rng.random() / 5) for _ in range(samples)])
    put_column(out, "weight", ["1"] * samples)
    put_column(out, "threadCPUDelta", numbers(rng.randrange(900, 1000) for _ in range(samples)))
    out.write('"weightType":"samples"}')


def put_markers(out, rng, markers):
    out.write(',"markers":{"length":%d,' % markers)
    put_column(out, "startTime", ["%.6f" % (i * 1.25) for i in range(markers)])
    put_column(out, "endTime", ["%.6f" % (i * 1.25 + rng.random()) for i in range(markers)])
    put_column(out, "name", numbers(rng.randrange(LIBS) for _ in range(markers)))
    put_column(out, "phase", ["1"] * markers)
    put_column(out, "category", ["1"] * markers)
    put_column(out, "data", ['{"type":"Text","name":"request %d of /index.html","innerWindowID":%d}' % (i, i % 7)
                             for i in range(markers)], True)
    out.write("}")


def main(path, samples=1_600_000, stacks=500_000, markers=800_000):
    rng = random.Random(7)
    meta = {"preprocessedProfileVersion": 66, "version": 24, "startTime": 1.7e12, "interval": 1.0, "stackwalk": 1,
            "product": "app", "processType": 0, "sampleUnits": {"threadCPUDelta": "µs"},
            "categories": [{"name": "Other", "color": "grey"}, {"name": "User", "color": "yellow"}]}
    with open(path, "w", encoding="utf-8") as out:
        out.write('{"meta":%s,"libs":[' % json.dumps(meta))
        out.write(",".join(json.dumps({"name": "lib%d.so" % i, "path": "/usr/lib/lib%d.so" % i, "codeId": "%040x" % i})
                           for i in range(LIBS)))
        out.write("],")
        put_shared(out, rng, stacks)
        out.write('"threads":[')
        for i in range(THREADS):
            out.write("," if i else "")
            put_thread(out, rng, i, samples // THREADS, stacks)
            put_markers(out, rng, markers // THREADS)
            out.write("}")
        out.write("]}\n")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
