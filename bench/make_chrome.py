#!/usr/bin/env python3
"""Writes a trace of Chrome's trace events to measure the reader with: the same bytes for the same arguments.

  make_chrome.py FILE [EVENTS]

500,000 slices in 4 threads, 100 MB: each begun after the one before it, some within others, with the category
and the arguments that browsers also write; every 20th event is a counter or an instant, which is no slice.
"""
import random
import sys

THREADS = 4
NAMES = ["ThreadControllerImpl::RunTask", "LayoutTree", "Paint", "UpdateLayerTree", "FunctionCall", "EvaluateScript",
         "ResourceReceivedData", "v8.compile", "GCEvent", "TimerFire"]


def slices(rng, events):
    """Slices of a thread: when and how long in ns, and at which depth; none ends behind the one around it."""
    now, ends = 1_000_000_000, []
    for _ in range(events):
        now += rng.randrange(100, 3000)
        while ends and ends[-1] <= now:
            ends.pop()
        room = ends[-1] - now if ends else 400_000
        length = int(room * rng.random() * 0.9) if len(ends) < 7 else min(50, room)
        ends.append(now + length)
        yield now, length, len(ends)


def main(path, events=500_000):
    rng = random.Random(11)
    threads = [slices(rng, events // THREADS) for _ in range(THREADS)]
    with open(path, "w", encoding="utf-8") as out:
        out.write('{"traceEvents":[\n')
        out.write('{"args":{"name":"Browser"},"cat":"__metadata","name":"process_name","ph":"M","pid":4711,"tid":0,"ts":0}')
        for i in range(THREADS):
            out.write(',\n{"args":{"name":"worker %d"},"cat":"__metadata","name":"thread_name","ph":"M","pid":4711,'
                      '"tid":%d,"ts":0}' % (i, 4712 + i))
        for i in range(events // THREADS):
            for number, thread in enumerate(threads):
                ts, length, depth = next(thread)
                name = NAMES[(depth * 3 + i % 3) % len(NAMES)]
                out.write(',\n{"args":{"data":{"id":%d,"src":"https://example.org/app-%d.js"}},"cat":"toplevel,devtools.timeline",'
                          '"dur":%.3f,"name":"%s","ph":"X","pid":4711,"tid":%d,"ts":%.3f}'
                          % (i, i % 31, length / 1000, name, 4712 + number, ts / 1000))
            if i % 5 == 0:
                out.write(',\n{"args":{"heap":%d},"cat":"v8","name":"heap size","ph":"C","pid":4711,"tid":4712,"ts":%.3f}'
                          % (rng.randrange(1 << 20, 1 << 26), ts / 1000))
        out.write('\n],"metadata":{"clock-domain":"LINUX_CLOCK_MONOTONIC"}}\n')


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
