/*
 * What a zone costs, as a ratio to two bare reads of the clock in the same run, which is the least
 * that a zone could cost: batches of all variants take turns, each batch is divided by the
 * reference's of the same round, and the median of those ratios is what is told.  Ratios so made
 * stay within a hundredth from run to run where the nanoseconds move by a tenth.
 *
 * "ns" is the median of a pair of enter and leave, less what the empty loop takes.  With
 * --check=yes it is an error if a ratio is over its bound (design: 1.10 entering and leaving, 1.15
 * with events, 1.20 recursive or from alternating callers, 1.25 out of line, 0.5 ns switched off).
 */
#define Prof_ENABLED
#include <prof.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAIRS = 8192, DEPTH = 8, ROUNDS_MAX = 2000 };

Prof_Define(bench_plain);
Prof_Define(bench_callee);

static struct {
	uint64_t a, b;
} sink;

#define KEEP() __asm__ volatile("" ::: "memory")

static void run_empty(int pairs)
{
	for (int i = 0; i < pairs; i++)
		KEEP();
}

static void run_reference(int pairs)
{
	for (int i = 0; i < pairs; i++) {
		Prof_PUT_(sink.a, Prof_ticks_());
		KEEP();
		Prof_PUT_(sink.b, Prof_ticks_());
	}
}

static void run_plain(int pairs)
{
	for (int i = 0; i < pairs; i++) {
		Prof_Region(bench_plain) KEEP();
		Prof_End
	}
}

static void run_block(int pairs)
{
	for (int i = 0; i < pairs; i++) {
		Prof_Scope(bench_plain);
		KEEP();
	}
}

static __attribute__((noinline)) void recurse(int depth)
{
	Prof_Begin(recurse) if (depth > 1) recurse(depth - 1);
	KEEP();
	Prof_End
}

static void run_recursion(int pairs)
{
	for (int i = 0; i < pairs; i += DEPTH)
		recurse(DEPTH);
}

static __attribute__((noinline)) void callee(void)
{
	Prof_Region(bench_callee) KEEP();
	Prof_End
}

/* Four pairs a round: two callers, each calls the same zone. */
static void run_alternating(int pairs)
{
	for (int i = 0; i < pairs; i += 4) {
		{
			Prof_Begin(caller_a) callee();
			Prof_End
		}
		{
			Prof_Begin(caller_b) callee();
			Prof_End
		}
	}
}

static void run_call(int pairs)
{
	for (int i = 0; i < pairs; i++) {
		Prof_enter(&Prof_region_bench_plain);
		KEEP();
		Prof_leave();
	}
}

static void run_count(int pairs)
{
	for (int i = 0; i < pairs; i++)
		Prof_count(&Prof_region_bench_plain);
}

static void set_events(bool on)
{
	Prof_set_events(on);
}

static void set_off(bool on)
{
	Prof_set_enabled(!on);
}

static const struct variant {
	const char *name;
	void (*run)(int pairs);
	void (*set)(bool on); /* before and after; NULL: nothing */
	double most;	      /* its bound; 0: none; negative: in nanoseconds */
} variants[] = {
	{"empty", run_empty, NULL, 0},
	{"reference", run_reference, NULL, 0},
	{"plain", run_plain, NULL, 1.10},
	{"block", run_block, NULL, 1.10},
	{"events", run_plain, set_events, 1.15},
	{"recursion", run_recursion, NULL, 1.20},
	{"alternating", run_alternating, NULL, 1.20},
	{"call", run_call, NULL, 1.25},
	{"off", run_plain, set_off, -0.5},
	{"off-block", run_block, set_off, -0.5},
	{"count", run_count, NULL, 0},
};
enum { EMPTY, REFERENCE, VARIANTS = sizeof(variants) / sizeof(variants[0]) };

/* Nanoseconds a pair, by variant and round. */
static double ns[VARIANTS][ROUNDS_MAX];

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double measure(const struct variant *variant, int pairs)
{
	double start;

	if (variant->set)
		variant->set(true);
	variant->run(64);
	start = now_ns();
	variant->run(pairs);
	start = now_ns() - start;
	if (variant->set)
		variant->set(false);
	return start / pairs;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), by_value);
	return values[count / 2];
}

static bool tell(int which, int rounds)
{
	double net[ROUNDS_MAX], ratio[ROUNDS_MAX], most = variants[which].most, value;
	bool is_over;

	for (int i = 0; i < rounds; i++) {
		net[i] = ns[which][i] - ns[EMPTY][i];
		ratio[i] = net[i] / (ns[REFERENCE][i] - ns[EMPTY][i]);
	}
	value = median(net, rounds);
	ratio[0] = median(ratio, rounds);
	is_over = most > 0 ? ratio[0] > most : most < 0 && value > -most;
	printf("%-12s %7.2f ns  %5.3f%s\n", variants[which].name, value, ratio[0],
		is_over ? "  over its bound" : "");
	return is_over;
}

int main(int argc, char **argv)
{
	int rounds = 200, over = 0;
	bool check = false;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--check=yes"))
			check = true;
		else if (sscanf(argv[i], "--rounds=%d", &rounds) != 1 || rounds < 1 ||
			 rounds > ROUNDS_MAX) {
			fprintf(stderr, "usage: zones_bench [--rounds=1..%d] [--check=yes]\n",
				ROUNDS_MAX);
			return 2;
		}
	}
	for (int round = 0; round < rounds; round++) {
		for (int which = 0; which < VARIANTS; which++)
			ns[which][round] = measure(&variants[which], PAIRS);
	}
	for (int which = 0; which < VARIANTS; which++)
		over += tell(which, rounds);
	return check && over ? 1 : 0;
}
