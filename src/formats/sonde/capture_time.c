/*
 * Notes about a recording's time.  Samples lost in the ring have a separate note, so their weight
 * is not reported as missing here.
 */
#include "formats/sonde/capture_time.h"

#include "formats/sonde/layout/capture.h"
#include "formats/sonde/layout/capture_stray.h"

/* As a share of all; smaller ones are not reported. */
#define SHARE_MIN 0.01
/* Most recordings lack a few ticks, as threads do not end exactly at one. */
#define MISSING_SHARE_MIN   0.02
#define MISSING_SAMPLES_MIN 20
/* The start of some programs takes this long. */
#define UNREACHED_LEAST_NS UINT64_C(20000000)
/* Less would print as 0.000 s. */
#define KERNEL_LEAST_NS UINT64_C(1000000)

static double seconds(uint64_t time_ns)
{
	return (double)time_ns / 1e9;
}

static double share(uint64_t part_ns, uint64_t all_ns)
{
	if (all_ns == 0)
		return 0;
	return part_ns < all_ns ? (double)part_ns / (double)all_ns : 1;
}

static void note_estimates(const struct capture_time *t, struct builder *b)
{
	uint64_t count = t->counters[CAPTURE_ESTIMATED_BLOCKS];
	double part = share(t->counters[CAPTURE_ESTIMATED_NS], t->off_cpu_ns);

	if (count == 0 || part < SHARE_MIN)
		return;
	builder_note(b, NOTE_GUESSED, count,
		count == 1 ? "time off the CPU, %.0f %% of all, is shown at the stack that its "
			     "thread had next to it"
			   : "times off the CPU, %.0f %% of all, are shown at the stack that their "
			     "thread had next to them",
		100 * part);
}

static void note_cut(const struct capture_time *t, struct builder *b)
{
	double part = share(t->cut_ns, t->off_cpu_ns);

	if (part >= SHARE_MIN)
		builder_note(b, NOTE_TRUNCATED, 1,
			"%.0f %% of the time off the CPU, %.3f s, is under [truncated]: its stack "
			"could not be had, or not whole",
			100 * part, seconds(t->cut_ns));
}

static void note_kernel(const struct capture_time *t, struct builder *b)
{
	uint64_t kernel_ns = t->counters[CAPTURE_UNSAMPLED_KERNEL_NS];
	double part = t->cpu_ns == UINT64_MAX ? 0 : share(kernel_ns, t->cpu_ns + kernel_ns);

	if (part >= SHARE_MIN && kernel_ns >= KERNEL_LEAST_NS)
		builder_note(b, NOTE_LOST, 1,
			"%.0f %% of the CPU time, %.3f s, is %s: it went by in kernel code, "
			"which could not be sampled",
			100 * part, seconds(kernel_ns),
			t->has_rows ? "[kernel, not permitted]" : "not here");
}

static void note_unreached(const struct capture_time *t, struct builder *b)
{
	uint64_t unreached_ns = t->counters[CAPTURE_UNREACHED_NS];
	double part = t->cpu_ns == UINT64_MAX ? 0 : share(unreached_ns, t->cpu_ns);

	if (part < SHARE_MIN || unreached_ns < UNREACHED_LEAST_NS)
		return;
	struct strbuf places = {0};

	capture_stray_put(&places, unreached_ns, t->counters + CAPTURE_STRAY_NS);
	builder_note(b, NOTE_LOST, 1,
		"%.0f %% of the CPU time, %.3f s, is %s: it went by where the preloaded library "
		"was not: %.*s",
		100 * part, seconds(unreached_ns), t->has_rows ? "[lost]" : "not here",
		STR_ARG(strbuf_str(&places)));
	strbuf_deinit(&places);
}

/*
 * Programs with other privileges than their caller's.  Their time is known only where the recorder
 * knows all of the CPU time that it should have seen.
 */
static void note_denied(const struct capture_time *t, struct builder *b)
{
	uint64_t count = t->counters[CAPTURE_DENIED_PROGRAMS];

	if (t->counters[CAPTURE_DENIED_ALIVE] == 0)
		return;
	builder_note(b, NOTE_LOST, count,
		count == 1 ? "a program was not sampled, as it is set-uid or set-gid, has file "
			     "capabilities or may not be read: to see it, record the whole machine "
			     "as root (-a)"
			   : "programs were not sampled, as they are set-uid or set-gid, have file "
			     "capabilities or may not be read: to see them, record the whole "
			     "machine as root (-a)");
}

/* True: missing time is explained by programs that may not be sampled. */
static bool note_denied_time(
	const struct capture_time *t, struct builder *b, uint64_t missing_ns, const char *where)
{
	uint64_t count = t->counters[CAPTURE_DENIED_PROGRAMS];

	if (count == 0)
		return false;
	builder_note(b, NOTE_LOST, 1,
		"%.0f %% of the CPU time, %.3f s, is %s: it went by in %s set-uid or set-gid, "
		"with file capabilities or not to be read; to see %s, record the whole machine as "
		"root (-a)",
		100 * share(missing_ns, t->cpu_ns), seconds(missing_ns), where,
		count == 1 ? "a program that is" : "programs that are", count == 1 ? "it" : "them");
	return true;
}

/* Notes missing time of unknown cause; false: too little is missing. */
static bool note_missing(const struct capture_time *t, struct builder *b)
{
	uint64_t found_ns = t->sampled_ns + t->counters[CAPTURE_UNREACHED_NS] +
			    t->counters[CAPTURE_LOST_RING] * t->interval_ns;

	if (t->cpu_ns == UINT64_MAX || t->interval_ns == UINT64_MAX || found_ns >= t->cpu_ns)
		return false;
	uint64_t missing_ns = t->cpu_ns - found_ns;
	double part = share(missing_ns, t->cpu_ns);
	const char *where = t->has_rows ? "[lost]" : "in no sample";

	if (part < MISSING_SHARE_MIN || missing_ns / MISSING_SAMPLES_MIN < t->interval_ns)
		return false;
	if (!note_denied_time(t, b, missing_ns, where))
		builder_note(b, NOTE_LOST, 1,
			"%.0f %% of the CPU time, %.3f s, is %s: it went by in threads shorter "
			"than the interval, or the clock was late",
			100 * part, seconds(missing_ns), where);
	return true;
}

void capture_time_note(const struct capture_time *time, struct builder *builder)
{
	note_kernel(time, builder);
	note_unreached(time, builder);
	if (!note_missing(time, builder))
		note_denied(time, builder);
	note_estimates(time, builder);
	note_cut(time, builder);
}
