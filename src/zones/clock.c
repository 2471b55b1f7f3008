/*
 * The clock of zones: the processor's counter, if its rate is constant and the kernel trusts it;
 * else clock_gettime, which costs twice as much.
 *
 * The counter's rate is measured against CLOCK_MONOTONIC_RAW.  At the start, this takes a quarter
 * of a millisecond, for an accuracy of some ten-thousandths.  Each time the program has run four
 * times as long, the rate is measured again over its whole life.  So if the program has many zones
 * or frames, a later correction is always far below a microsecond.  Only one word of the header
 * changes.  CLOCK_MONOTONIC_RAW stops while the machine sleeps, so a rate far from the last one is
 * rejected.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "zones/runtime.h"

__extension__ typedef unsigned __int128 wide;

enum {
	MULT_SHIFT = 32,
	FIRST_NS = 250 * 1000,
	REFINE_FROM_NS = 4 * 1000 * 1000,
	TRIES = 8,
	FAR = 500
};

static struct {
	uint64_t (*program)(void); /* the program's own; NULL: none */
	double program_hz;
	bool may_refine;
	uint64_t refine_at;	/* tick from which a new measurement is worthwhile */
	uint64_t raw_ns, ticks; /* at the start */
} zone_clock;

static uint64_t kernel_now(clockid_t clock)
{
	struct timespec now = {0, 0};

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t raw_now(void)
{
	return kernel_now(CLOCK_MONOTONIC_RAW);
}

uint64_t zones_now(void)
{
	uint64_t now;

	if (!(Prof_GET_(zones_slow) & ZONES_CLOCK_CALL))
		return Prof_ticks_();
	if (!zone_clock.program)
		return raw_now();
	now = zone_clock.program();
	if (zones_header())
		Prof_PUT_(zones_header()->now_ticks, now);
	return now;
}

/* Reads both clocks at one moment: the shortest of several tries counts. */
static void read_both(uint64_t *ticks, uint64_t *raw_ns)
{
	uint64_t least = UINT64_MAX;
	int i;

	for (i = 0; i < TRIES; i++) {
		uint64_t before = Prof_ticks_(), raw = raw_now(), after = Prof_ticks_();

		if (after - before < least) {
			least = after - before;
			*ticks = before + least / 2;
			*raw_ns = raw;
		}
	}
}

/* CLOCK_MONOTONIC at that time of CLOCK_MONOTONIC_RAW, which is now. */
static uint64_t monotonic_at(uint64_t raw_ns)
{
	uint64_t least = UINT64_MAX, offset = 0;
	int i;

	for (i = 0; i < TRIES; i++) {
		uint64_t before = raw_now(), monotonic = kernel_now(CLOCK_MONOTONIC);
		uint64_t took = raw_now() - before;

		if (took < least) {
			least = took;
			offset = monotonic - before - took / 2;
		}
	}
	return raw_ns + offset;
}

static uint64_t mult_of(uint64_t ns, uint64_t ticks)
{
	return (uint64_t)(((wide)ns << MULT_SHIFT) / (ticks ? ticks : 1));
}

#if defined(__x86_64__)
/* Whether the kernel does not use the counter for its own time, because it considers it unreliable.
 * */
static bool kernel_distrusts(void)
{
	static const char *const others[] = {
		"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"};
	char name[32] = "";
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, name, sizeof(name) - 1);
	size_t i;

	if (fd >= 0)
		close(fd);
	if (size <= 0)
		return false;
	name[strcspn(name, "\n")] = '\0';
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!strcmp(name, others[i]))
			return true;
	}
	return false;
}

static bool counter_is_good(void)
{
	unsigned int a, b, c, d;

	/* Advanced power management: the invariant TSC. */
	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1 << 8) && !kernel_distrusts();
}

static uint64_t counter_mult(void)
{
	uint64_t ticks = 0, raw_ns = 0;

	do {
		read_both(&ticks, &raw_ns);
	} while (raw_ns - zone_clock.raw_ns < FIRST_NS);
	zone_clock.may_refine = true;
	return mult_of(raw_ns - zone_clock.raw_ns, ticks - zone_clock.ticks);
}
#else
static bool counter_is_good(void)
{
	return true;
}

/* A register holds the counter's rate. */
static uint64_t counter_mult(void)
{
	uint64_t hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return mult_of(1000000000, hz);
}
#endif

static void start_counter(struct zonewire_header *header)
{
	header->clock = ZONEWIRE_CLOCK_CPU;
	header->clock_mult = counter_mult();
	zone_clock.refine_at = zone_clock.ticks + (uint64_t)(((wide)REFINE_FROM_NS << MULT_SHIFT) /
							     header->clock_mult);
}

static void start_called(struct zonewire_header *header)
{
	__atomic_fetch_or(&zones_slow, ZONES_CLOCK_CALL, __ATOMIC_RELAXED);
	if (!zone_clock.program) {
		header->clock = ZONEWIRE_CLOCK_MONOTONIC;
		header->clock_mult = UINT64_C(1) << MULT_SHIFT;
		zone_clock.ticks = zone_clock.raw_ns;
		return;
	}
	header->clock = ZONEWIRE_CLOCK_CALLED;
	header->clock_mult =
		(uint64_t)(1e9 / zone_clock.program_hz * (double)(UINT64_C(1) << MULT_SHIFT) + 0.5);
	zone_clock.ticks = zone_clock.program();
	header->now_ticks = zone_clock.ticks;
}

void zones_clock_start(struct zonewire_header *header)
{
	read_both(&zone_clock.ticks, &zone_clock.raw_ns);
	header->start_monotonic_ns = monotonic_at(zone_clock.raw_ns);
	header->start_monotonic_raw_ns = zone_clock.raw_ns;
	header->clock_shift = MULT_SHIFT;
	if (zone_clock.program || !counter_is_good())
		start_called(header);
	else
		start_counter(header);
	header->start_ticks = zone_clock.ticks;
}

void zones_clock_refine(void)
{
	uint64_t ticks, raw_ns, mult, at = Prof_GET_(zone_clock.refine_at);
	uint64_t known = Prof_GET_(zones_rt.memory.header->clock_mult);

	if (!zone_clock.may_refine || Prof_ticks_() < at)
		return;
	read_both(&ticks, &raw_ns);
	/* Only one of several threads does it. */
	if (!__atomic_compare_exchange_n(&zone_clock.refine_at, &at,
		    zone_clock.ticks + (ticks - zone_clock.ticks) * 4, false, __ATOMIC_RELAXED,
		    __ATOMIC_RELAXED))
		return;
	mult = mult_of(raw_ns - zone_clock.raw_ns, ticks - zone_clock.ticks);
	/*
	 * The machine has slept; the counter may have continued or restarted, so this is not a
	 * rate.
	 */
	if (mult > known + known / FAR || mult < known - known / FAR)
		return;
	Prof_PUT_(zones_rt.memory.header->clock_mult, mult);
}

void Prof_set_clock(uint64_t (*now)(void), double hz)
{
	Prof_Thread_ *t = &Prof_thread_;
	uint32_t skipped;

	if (!zones_hold(t, &skipped))
		return;
	zones_lock();
	if (!zones_rt.memory.header && (!now || hz > 0)) {
		zone_clock.program = now;
		zone_clock.program_hz = hz;
	}
	zones_unlock();
	zones_release(t, skipped);
}
