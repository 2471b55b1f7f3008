/*
 * Clocks.  In a time namespace the monotonic clock is shifted: time_namespaces(7).  The recorder is
 * outside, and its heartbeat and the times of samples must agree, so the shift is removed.
 */
#include "preload/preload.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "preload/raw.h"

#define SECOND_NS 1000000000u

static uint64_t shift_ns;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * SECOND_NS + (uint64_t)ts.tv_nsec;
}

uint64_t preload_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC) - shift_ns;
}

uint64_t preload_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Parses a number after spaces, possibly negative, in two's complement. */
static uint64_t parse_number(const char **text)
{
	uint64_t value = 0;
	bool is_negative;

	while (**text == ' ' || **text == '\t')
		(*text)++;
	is_negative = **text == '-';
	*text += is_negative;
	while (**text >= '0' && **text <= '9')
		value = value * 10 + (uint64_t)(*(*text)++ - '0');
	return is_negative ? 0 - value : value;
}

/* Each line has a clock's name, seconds and nanoseconds; the first clock is "monotonic". */
void preload_time_begin(void)
{
	static const char name[] = "monotonic ";
	char text[128] = "";
	const char *at = text + sizeof(name) - 1;
	long fd = raw4(SYS_openat, AT_FDCWD, "/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return;
	raw3(SYS_read, fd, text, sizeof(text) - 1);
	raw1(SYS_close, fd);
	if (memcmp(text, name, sizeof(name) - 1) != 0)
		return;
	shift_ns = parse_number(&at) * SECOND_NS;
	shift_ns += parse_number(&at);
}
