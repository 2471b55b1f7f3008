#!/usr/bin/env python3
"""Writes a C program of many functions that call each other at random, the same for the same arguments.

  make_calls.py FILE.c [FUNCTIONS]

Functions come in groups of four.  A function works a little, then calls one of four: three of groups further on, and in
each third group, where the four are a cycle, its neighbour.  A walk from main so goes through some 60 functions,
and hardly two take the same way.  The program is run with the number of walks.
"""
import random
import sys

GROUP = 4
WAYS = 4
FURTHEST = 40

HEAD = """#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t seed = 88172645463325252u;

static inline __attribute__((always_inline)) uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static inline __attribute__((always_inline)) void work(uint64_t rounds)
{
	for (uint64_t i = rounds * 20; i > 0; i--)
		__asm__ volatile("");
}
"""

# The asm keeps a call from being the function's last act, which a compiler makes a jump.
FUNCTION = """
__attribute__((noinline)) void %s(void)
{
	uint64_t drawn = draw();

	work(drawn >> 60);
	switch (drawn %% %d) {
%s	}
	__asm__ volatile("" ::: "memory");
}
"""

MAIN = """
int main(int argc, char **argv)
{
	for (long walks = argc > 1 ? atol(argv[1]) : 1; walks > 0; walks--)
		f0();
	return seed == 0;
}
"""


def callees(rng, index, count):
	group = index // GROUP
	found = []
	for _ in range(WAYS - 1):
		ahead = (group + rng.randint(1, FURTHEST)) * GROUP + rng.randrange(GROUP)
		found.append(ahead if ahead < count else None)
	found.append(group * GROUP + (index + 1) % GROUP if group % 3 == 0 and group else found[0])
	return found


def write(out, count):
	rng = random.Random(4)
	out.write(HEAD)
	out.write("".join(f"void f{i}(void);\n" for i in range(count)))
	for i in range(count):
		cases = "".join(f"\tcase {way}:\n\t\t{f'f{callee}();' if callee is not None else ''}\n\t\tbreak;\n"
			for way, callee in enumerate(callees(rng, i, count)))
		out.write(FUNCTION % (f"f{i}", WAYS, cases))
	out.write(MAIN)


def main(args):
	if not args:
		sys.exit(__doc__)
	with open(args[0], "w", encoding="ascii") as out:
		write(out, int(args[1]) if len(args) > 1 else 5000)


main(sys.argv[1:])
