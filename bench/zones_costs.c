/*
 * What zones cost besides the time in them, one thing a run:
 *
 *	zones_costs pairs N		enters and leaves N times, in 8 zones; tells calls of malloc
 *	zones_costs memory ZONES THREADS	resident memory before and after each thread was in each
 *	zones_costs update ACTIVE NODES	Prof_update when so many of so many nodes were active
 *	zones_costs exit		exit() inside zones
 */
#define Prof_ENABLED
#include <prof.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { UPDATES = 101, SIDE = 1000 };

/* The program's own malloc and friends, which count: glibc lets a program have them. */
static unsigned long mallocs;
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size)
{
	__atomic_fetch_add(&mallocs, 1, __ATOMIC_RELAXED);
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	__atomic_fetch_add(&mallocs, 1, __ATOMIC_RELAXED);
	return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	__atomic_fetch_add(&mallocs, 1, __ATOMIC_RELAXED);
	return __libc_realloc(memory, size);
}

static int pairs(long count)
{
	unsigned long before = mallocs;

	for (long i = 0; i < count; i += 8) {
		Prof_Begin(outer) for (int j = 0; j < 7; j++){Prof_Begin(inner) Prof_End} Prof_End
	}
	printf("%lu\n", mallocs - before);
	return 0;
}

static long resident_kb(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	if (!file || fscanf(file, "%*d %ld", &pages) != 1)
		abort();
	fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static Prof_Zone **make_zones(long count)
{
	Prof_Zone **zones = calloc((size_t)count, sizeof(*zones));
	char name[32];

	if (!zones)
		abort();
	for (long i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "zone_%ld", i);
		zones[i] = Prof_zone(name, __FILE__, (uint32_t)i);
	}
	return zones;
}

struct visit {
	Prof_Zone **zones;
	long count;
	pthread_barrier_t *all;
	int is_active;
};

static void *visit(void *argument)
{
	struct visit *what = argument;

	for (long i = 0; what->is_active && i < what->count; i++) {
		Prof_enter(what->zones[i]);
		Prof_leave();
	}
	pthread_barrier_wait(what->all);
	pthread_barrier_wait(what->all);
	return NULL;
}

/* Of that many threads, with or without the zones, while they are all there. */
static long visited_kb(struct visit *what, long threads)
{
	pthread_t ids[256];
	long found;

	for (long i = 0; i < threads; i++) {
		if (pthread_create(&ids[i], NULL, visit, what))
			abort();
	}
	pthread_barrier_wait(what->all);
	found = resident_kb();
	pthread_barrier_wait(what->all);
	for (long i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	return found;
}

static int memory(long zones, long threads)
{
	pthread_barrier_t all;
	struct visit what = {NULL, zones, &all, 0};
	long without;

	if (threads < 1 || threads > 256)
		return 2;
	pthread_barrier_init(&all, NULL, (unsigned)threads + 1);
	what.zones = calloc((size_t)zones, sizeof(*what.zones));
	without = visited_kb(&what, threads);
	what.zones = make_zones(zones);
	what.is_active = 1;
	printf("%ld\n", visited_kb(&what, threads) - without);
	return 0;
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* All nodes: up to 1,000 zones, and in each of them up to 1,000 again. */
static void enter_all(Prof_Zone **zones, long nodes)
{
	for (long i = 0, left = nodes; left > 0; i++) {
		Prof_enter(zones[i]);
		left--;
		for (long j = 0; nodes > SIDE && j < SIDE && left > 0; j++, left--) {
			Prof_enter(zones[j]);
			Prof_leave();
		}
		Prof_leave();
	}
}

static int update(long active, long nodes)
{
	Prof_Zone **zones = make_zones(SIDE);
	double took[UPDATES];

	if (active < 1 || active > SIDE || nodes < active || nodes > SIDE * SIDE)
		return 2;
	enter_all(zones, nodes);
	Prof_update(1);
	for (int i = 0; i < UPDATES; i++) {
		enter_all(zones, active);
		took[i] = now_us();
		Prof_update(1);
		took[i] = now_us() - took[i];
	}
	qsort(took, UPDATES, sizeof(took[0]), by_value);
	printf("%.1f\n", took[UPDATES / 2]);
	return 0;
}

static int end_inside(void)
{
	Prof_Begin(outer)
	{
		Prof_Begin(inner) Prof_update(1);
		exit(0);
		Prof_End
	}
	Prof_End return 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long first = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	long second = argc > 3 ? strtol(argv[3], NULL, 10) : 0;

	if (!strcmp(what, "pairs"))
		return pairs(first);
	if (!strcmp(what, "memory"))
		return memory(first, second);
	if (!strcmp(what, "update"))
		return update(first, second);
	if (!strcmp(what, "exit"))
		return end_inside();
	fprintf(stderr, "usage: zones_costs pairs N | memory ZONES THREADS | update ACTIVE NODES | "
			"exit\n");
	return 2;
}
