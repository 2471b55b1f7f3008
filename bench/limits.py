"""The physical limits: what no sampler, and no reader, can pass on this machine; measured where that can be."""
import math

from harness import capture
from rows_cost import STACKS, stolen_by
from tools import PERF_PLAIN


def best(bench, measure):
	return min(measure() for _ in range(max(bench.rounds, 3)))


def tick(bench):
	return f"{best(bench, lambda: stolen_by(bench, None, STACKS['shallow'])[0]):.1f} µs, a tick of the system without any profiler"


def timer(bench):
	return f"{best(bench, lambda: stolen_by(bench, PERF_PLAIN, STACKS['shallow'])[0]):.1f} µs, an event without a stack (perf record, no -g)"


def copy(bench):
	def once(size):
		return best(bench, lambda: float(capture([bench.path("copy"), str(size)])))
	return ", ".join(f"{size // 1024} KB {once(size):.1f} µs" for size in (8192, 16384, 32768, 65528))


def read_text(bench):
	path = bench.folded("wide")
	return f"{bench.wall_ms(['wc', '-l', path], 3):.0f} ms, `wc -l`; {bench.wall_ms(['cat', path], 3):.0f} ms, reading alone"


def start(bench):
	return f"{bench.wall_ms(['/bin/true'], 5):.1f} ms, /bin/true itself"


def chance(_):
	return ", ".join(f"{100 * math.sqrt(0.2 * 0.8 / n):.2f} points at {n:,} samples" for n in (1000, 5000, 50000)) + \
		", for a share of 20 % (one standard deviation)"


def clock(_):
	return "100 %: the clock is a timer of the kernel's, not bound to its ticks"


LIMITS = [
	("captured", "samples captured", clock),
	("tick", "time stolen per sample: an interrupt", tick),
	("timer", "time stolen per sample: an event", timer),
	("copy", "time stolen per sample: a copy of the stack, added to that", copy),
	("start", "start and stop", start),
	("folded", "folded text: reading it", read_text),
	("chance", "error on known shares", chance),
]
