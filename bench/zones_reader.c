/*
 * Reads a program's zones from outside so many times a second, as `sonde live` does: attaches,
 * stops itself, and goes on until it is killed.
 *
 *	zones_reader PID HZ [SECONDS]
 *
 * With SECONDS it does not stop, and tells how many readings there were and what one took.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "live/attach.h"

static int64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void wait_until(int64_t ns)
{
	struct timespec until = {ns / 1000000000, ns % 1000000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		;
}

int main(int argc, char **argv)
{
	long hz = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	double seconds = argc > 3 ? strtod(argv[3], NULL) : 0;
	struct zone_reading reading = {0};
	struct zone_reader *reader = zone_reader_create();
	struct error *error;
	struct live *live;
	int64_t start, next, count = 0;

	if (hz < 1 || !reader) {
		fprintf(stderr, "usage: zones_reader PID HZ [SECONDS]\n");
		return 2;
	}
	error = live_attach((pid_t)strtol(argv[1], NULL, 10), &live);
	if (error) {
		fprintf(stderr, "zones_reader: %s\n", error->message);
		return 1;
	}
	if (seconds <= 0)
		raise(SIGSTOP);
	start = next = now_ns(CLOCK_MONOTONIC);
	while (zone_reader_read(reader, &live->memory.region, &reading)) {
		int64_t now = now_ns(CLOCK_MONOTONIC);

		count++;
		if (seconds > 0 && (double)(now - start) > seconds * 1e9)
			break;
		/* What was missed, while it was stopped or had no turn, is not made up for. */
		next = next + 1000000000 / hz > now ? next + 1000000000 / hz : now;
		wait_until(next);
	}
	printf("%lld readings of %u nodes, %.1f us of CPU each\n", (long long)count,
		reading.node_count, (double)now_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e3 / (double)count);
	live_destroy(live);
	zone_reader_destroy(reader);
	return 0;
}
