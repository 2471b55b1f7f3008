/*
 * events PAGES MICROSECONDS NAPS: touches PAGES fresh pages, one quarter in touch_one and three in
 * touch_three, with so much CPU time of work behind each, and then sleeps NAPS times in nap. Prints
 * what the system has counted: "minflt N\nmajflt N\nnvcsw N\nnivcsw N".
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "cpu_time.h"
#include "spin.h"

#define PAGE_SIZE 4096

/* One in four pages is the first function's: both go on all the time. */
static uint64_t touch(volatile char *page, double work_us, uint64_t x)
{
	*page = 1;
	if (work_us <= 0)
		return x;
	struct cpu_time time = cpu_time_of_thread(work_us / 1000);

	do
		x = spin(500, x);
	while (cpu_time_is_left(&time));
	return x;
}

KEEP uint64_t touch_one(volatile char *page, double work_us, uint64_t x)
{
	return touch(page, work_us, x) + 1;
}

KEEP uint64_t touch_three(volatile char *page, double work_us, uint64_t x)
{
	for (int i = 0; i < 3; i++)
		x = touch(page + i * PAGE_SIZE, work_us, x);
	return x + 1;
}

KEEP uint64_t touch_all(char *memory, uint64_t pages, double work_us, uint64_t x)
{
	for (uint64_t i = 0; i < pages; i += 4) {
		x = touch_one(memory + i * PAGE_SIZE, work_us, x);
		x = touch_three(memory + (i + 1) * PAGE_SIZE, work_us, x);
	}
	return x + 1;
}

KEEP int nap(uint64_t naps)
{
	const struct timespec time = {.tv_nsec = 1000000};
	int failed = 0;

	for (uint64_t i = 0; i < naps; i++)
		failed += nanosleep(&time, NULL) != 0;
	return failed;
}

int main(int argc, char **argv)
{
	uint64_t pages = argc > 1 ? strtoull(argv[1], NULL, 10) / 4 * 4 : 4;
	double work_us = argc > 2 ? atof(argv[2]) : 0;
	uint64_t naps = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	struct rusage usage;
	uint64_t x = 88172645463325252u;
	char *memory = mmap(NULL, (pages + 4) * PAGE_SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return 1;
	/* A huge page would be one fault. */
	madvise(memory, (pages + 4) * PAGE_SIZE, MADV_NOHUGEPAGE);
	x = touch_all(memory, pages, work_us, x);
	if (nap(naps) != 0)
		return 1;
	getrusage(RUSAGE_SELF, &usage);
	printf("minflt %ld\nmajflt %ld\nnvcsw %ld\nnivcsw %ld\n", usage.ru_minflt, usage.ru_majflt,
		usage.ru_nvcsw, usage.ru_nivcsw);
	return x == 0;
}
