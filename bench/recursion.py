"""A recursion through two functions until its CPU time is used up; run with -X perf or -X perf_jit."""
import sys
import time


def down(depth, total):
	return total if depth == 0 else across(depth - 1, total + depth)


def across(depth, total):
	return down(depth, total * 31 % 1000003)


LIMIT = float(sys.argv[1]) if len(sys.argv) > 1 else 4
TOTAL = 0
while time.process_time() < LIMIT:
	TOTAL += down(200, TOTAL % 7)
print(TOTAL % 10)
