/*
 * What a zone costs, as a ratio to two bare reads of the clock in the same run, which is the least
 * that a zone could cost: batches of all variants take turns, each batch is divided by the
 * reference's of the same round, and the median of those ratios is reported.  Ratios so made
 * stay within two hundredths from run to run where the nanoseconds move by a tenth.  Time is the
 * thread's CPU time, so that other tasks' turns are none of it.
 *
 * "ns" is the median of a pair of enter and leave, less what the empty loop takes.  With
 * --check=yes it is an error if a ratio is over its bound (design: 1.10 entering and leaving, 1.15
 * with events, 1.20 recursive or from alternating callers, 1.25 out of line, 0.5 ns switched off).
 *
 * --threads=N runs what needs no switching in N threads at once, and takes the medians over all.
 * --load=FILE takes the variants of a shared object too, their names with "so-" before.
 * --only=NAME,... measures these (and the empty loop and the reference).
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "zones_bench.h"

enum { ROUNDS_MAX = 2000, THREADS_MAX = 16, VARIANTS_MAX = 48, EMPTY = 0, REFERENCE = 1 };

static __thread struct {
	uint64_t a, b;
} sink;

static void run_empty(int pairs)
{
	for (int i = 0; i < pairs; i++)
		KEEP();
}

static uint64_t ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t now;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
	return now;
#endif
}

static void run_reference(int pairs)
{
	for (int i = 0; i < pairs; i++) {
		__atomic_store_n(&sink.a, ticks(), __ATOMIC_RELAXED);
		KEEP();
		__atomic_store_n(&sink.b, ticks(), __ATOMIC_RELAXED);
	}
}

static const struct variant base[] = {
	{"empty", run_empty, NULL, 0, 0},
	{"reference", run_reference, NULL, 0, 0},
	{NULL, NULL, NULL, 0, 0},
};

static struct {
	const struct variant *variant;
	char name[32];
} chosen[VARIANTS_MAX];
static int chosen_count, rounds = 200, threads = 1, pairs = 8192;
static const char *only;

/* Nanoseconds a pair, by thread, variant and round. */
static double (*ns)[VARIANTS_MAX][ROUNDS_MAX];

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static bool is_wanted(const char *name)
{
	size_t length = strlen(name);

	for (const char *at = only; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		if (!strncmp(at, name, length) && (at[length] == ',' || !at[length]))
			return true;
	}
	return !only;
}

static void choose(const struct variant *table, const char *prefix)
{
	for (; table && table->name && chosen_count < VARIANTS_MAX; table++) {
		char *name = chosen[chosen_count].name;

		snprintf(name, sizeof(chosen->name), "%s%s", prefix, table->name);
		if ((threads > 1 && table->set) ||
			(table->run != run_empty && table->run != run_reference &&
				!is_wanted(name)))
			continue;
		chosen[chosen_count++].variant = table;
	}
}

static bool load(const char *path)
{
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct variant *table = object ? dlsym(object, "zones_variants") : NULL;

	if (!table) {
		fprintf(stderr, "zones_bench: %s\n", dlerror());
		return false;
	}
	choose(table, "so-");
	return true;
}

static double measure(const struct variant *variant)
{
	int count = pairs * (variant->batch ? variant->batch : 1);
	double start;

	if (variant->set)
		variant->set(1);
	variant->run(64);
	start = now_ns();
	variant->run(count);
	start = now_ns() - start;
	if (variant->set)
		variant->set(0);
	return start / count;
}

static void *run_thread(void *argument)
{
	double(*mine)[ROUNDS_MAX] = *(double(*)[VARIANTS_MAX][ROUNDS_MAX])argument;

	for (int round = 0; round < rounds; round++) {
		for (int which = 0; which < chosen_count; which++)
			mine[which][round] = measure(chosen[which].variant);
	}
	return NULL;
}

static bool run_threads(void)
{
	pthread_t others[THREADS_MAX];

	for (int i = 1; i < threads; i++) {
		if (pthread_create(&others[i], NULL, run_thread, &ns[i]))
			return false;
	}
	run_thread(&ns[0]);
	for (int i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	return true;
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

static bool tell(int which)
{
	static double net[THREADS_MAX * ROUNDS_MAX], ratio[THREADS_MAX * ROUNDS_MAX];
	double most = chosen[which].variant->most, value, middle;
	int count = 0;
	bool is_over;

	for (int thread = 0; thread < threads; thread++) {
		for (int i = 0; i < rounds; i++, count++) {
			net[count] = ns[thread][which][i] - ns[thread][EMPTY][i];
			ratio[count] =
				net[count] / (ns[thread][REFERENCE][i] - ns[thread][EMPTY][i]);
		}
	}
	value = median(net, count);
	middle = median(ratio, count);
	is_over = most > 0 ? middle > most : most < 0 && value > -most;
	printf("%-16s %7.2f ns  %5.3f%s\n", chosen[which].name, value, middle,
		is_over ? "  over its bound" : "");
	return is_over;
}

static bool parse(int argc, char **argv, const char **loaded, bool *check)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--check=yes"))
			*check = true;
		else if (!strncmp(argv[i], "--load=", 7))
			*loaded = argv[i] + 7;
		else if (!strncmp(argv[i], "--only=", 7))
			only = argv[i] + 7;
		else if (sscanf(argv[i], "--rounds=%d", &rounds) != 1 &&
			 sscanf(argv[i], "--threads=%d", &threads) != 1 &&
			 sscanf(argv[i], "--pairs=%d", &pairs) != 1)
			return false;
	}
	return rounds > 0 && rounds <= ROUNDS_MAX && threads > 0 && threads <= THREADS_MAX &&
	       pairs > 0 && pairs <= 1 << 24;
}

int main(int argc, char **argv)
{
	const struct variant *tables[] = {base, zones_variants, zones_hooked, zones_read,
		peer_iprof, peer_spall, peer_tracy, peer_tracy_c};
	const char *loaded = NULL;
	bool check = false;
	int over = 0;

	if (!parse(argc, argv, &loaded, &check)) {
		fprintf(stderr,
			"usage: zones_bench [--rounds=1..%d] [--threads=1..%d] [--pairs=N] "
			"[--only=NAME,...] [--load=FILE] [--check=yes]\n",
			ROUNDS_MAX, THREADS_MAX);
		return 2;
	}
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		choose(tables[i], "");
	ns = calloc((size_t)threads, sizeof(*ns));
	if (!ns || (loaded && !load(loaded)) || !run_threads())
		return 2;
	for (int which = 0; which < chosen_count; which++)
		over += tell(which);
	/* Not by the peers' own exit: some wait for a viewer. */
	fflush(stdout);
	_exit(check && over ? 1 : 0);
}
