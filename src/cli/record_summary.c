/* The summary of a recording, in a few lines. */
#include "cli/record_summary.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/escape.h"
#include "cli/message.h"
#include "cli/record_session.h"
#include "formats/sonde/layout/capture_stray.h"
#include "record/engines/exact/exact.h"
#include "view/text/units.h"

/* The start of some programs takes this long. */
#define UNREACHED_LEAST_NS UINT64_C(20000000)
/* This many modules without symbols are named, the rest counted. */
#define NAMELESS_SHOWN 4

/* Several builds of a library have the same name, which is shown once. */
static bool is_shown(const struct record_summary_modules *modules, struct str name)
{
	struct str left = strbuf_str(&modules->names);

	while (left.size > 0)
		if (str_equal(str_take_item(&left), name))
			return true;
	return false;
}

void record_summary_nameless(struct record_summary *summary, struct str path, bool is_replaced)
{
	struct record_summary_modules *modules =
		is_replaced ? &summary->replaced : &summary->nameless;
	struct str name = str_base_name(path);

	modules->count++;
	if (is_shown(modules, name))
		return;
	modules->is_cut |= modules->named == NAMELESS_SHOWN;
	if (modules->is_cut)
		return;
	modules->named++;
	strbuf_add(&modules->names, name);
	strbuf_add(&modules->names, (struct str){"", 1});
}

void record_summary_deinit(struct record_summary *summary)
{
	strbuf_deinit(&summary->nameless.names);
	strbuf_deinit(&summary->replaced.names);
}

static void say(struct strbuf *line)
{
	message_print("%.*s", STR_ARG(strbuf_str(line)));
	strbuf_clear(line);
}

static void count_put(struct strbuf *line, uint64_t count, const char *noun)
{
	number_put(line, count);
	strbuf_printf(line, " %s%s", noun, count == 1 ? "" : "s");
}

static uint64_t lost(const struct recorder_result *r)
{
	return r->counters[CAPTURE_LOST_RING];
}

/* The expected samples that are missing, for whatever reason; few do not count. */
static uint64_t unsampled(const struct recorder_result *r)
{
	uint64_t found = r->samples + lost(r);

	if (r->expected == UINT64_MAX || found + 20 > r->expected || found * 50 > r->expected * 49)
		return 0;
	return r->expected - r->samples;
}

static void say_samples(const struct recorder_result *r, struct strbuf *line)
{
	count_put(line, r->samples, "sample");
	strbuf_add(line, STR(", one every "));
	time_put(line, r->samples > 0 ? r->sampled_ns / r->samples : r->interval_ns);
	strbuf_add(line, STR(" of "));
	if (r->cpu_ns != UINT64_MAX) {
		time_put(line, r->cpu_ns);
		strbuf_add_char(line, ' ');
	}
	strbuf_add(line, STR("CPU time; "));
	if (r->expected != UINT64_MAX) {
		number_put(line, r->expected);
		strbuf_add(line, STR(" expected, "));
	}
	number_put(line, lost(r) > unsampled(r) ? lost(r) : unsampled(r));
	strbuf_add(line, STR(" lost"));
	say(line);
}

static void say_pauses(const struct recorder_result *r, struct strbuf *line)
{
	if (r->off_ns == 0)
		return;
	if (r->keep_ns > 0) {
		strbuf_add(line, STR("the last "));
		time_put(line, r->duration_ns - r->off_ns);
		strbuf_add(line, STR(" of "));
		time_put(line, r->duration_ns);
		strbuf_add(line, STR(" are kept"));
		if (r->kept_is_short)
			strbuf_add(line, STR(", limited by memory"));
		say(line);
		return;
	}
	time_put(line, r->off_ns);
	strbuf_add(line, STR(" of "));
	time_put(line, r->duration_ns);
	strbuf_add(line, STR(" left out by --delay or --control"));
	say(line);
}

static void say_excluded(const struct record_summary *summary, struct strbuf *line)
{
	if (!summary->has_when)
		return;
	count_put(line, summary->excluded, "sample");
	strbuf_printf(line, " of these %s not match --when: counted, without %s",
		summary->excluded == 1 ? "does" : "do",
		summary->excluded == 1 ? "its stack" : "their stacks");
	say(line);
}

/* Summarizes programs with zones, if there were any. */
static void say_zones(const struct recorder_result *r, struct strbuf *line)
{
	const struct zones_result *z = &r->zones;

	if (z->programs == 0)
		return;
	count_put(line, z->zones, "zone");
	if (z->functions > 0) {
		strbuf_add(line, STR(" and "));
		count_put(line, z->functions, "function");
	}
	strbuf_add(line, STR(" of "));
	count_put(line, z->programs, "program");
	strbuf_add(line, STR(", "));
	count_put(line, z->ticks, "frame");
	strbuf_add(line, STR("; "));
	number_put(line, z->lost_ticks);
	strbuf_add(line, STR(" lost"));
	if (z->unknown > 0) {
		strbuf_add(line, STR("; the zones of "));
		count_put(line, z->unknown, "sample");
		strbuf_add(line, STR(", on and off the CPU, are unknown"));
	}
	if (z->lost_events > 0) {
		strbuf_add(line, STR("; "));
		count_put(line, z->lost_events, "zone event");
		strbuf_add(line, STR(" lost"));
	}
	say(line);
}

/* Prints one line for each event other than time. */
static void say_events(const struct recorder_result *r, struct strbuf *line)
{
	for (size_t i = 0; i < r->counted_count; i++) {
		const struct recorder_counted *c = &r->counted[i];

		strbuf_add(line, c->name);
		strbuf_add(line, STR(": "));
		if (c->events != UINT64_MAX) {
			number_put(line, c->events);
			strbuf_add(line, STR(" counted, "));
		}
		number_put(line, c->weight);
		strbuf_add(line, STR(" in "));
		count_put(line, c->samples, "sample");
		strbuf_add(line, STR("; "));
		number_put(line, c->lost);
		strbuf_add(line, STR(" lost"));
		say(line);
	}
}

static void say_kernel(const struct recorder_result *r, struct strbuf *line)
{
	if (r->kernel_frames)
		return;
	strbuf_add(line, STR("kernel code could not be sampled ("));
	time_put(line, r->kernel_cpu_ns);
	strbuf_add(line, STR("); allow it with `sudo sysctl kernel.perf_event_paranoid=1`"));
	say(line);
}

static void say_thinned(const struct recorder_result *r, struct strbuf *line)
{
	if (r->thinned == 0)
		return;
	count_put(line, r->thinned, "sample");
	strbuf_printf(line,
		" %s not walked, as the recorder fell behind; the next samples of the same threads "
		"weigh more, so totals are right",
		r->thinned == 1 ? "was" : "were");
	say(line);
}

/* Appends why the cost exceeded the limit. */
static void put_limit(const struct recorder_result *r, double most, struct strbuf *line)
{
	strbuf_printf(line, ", more than the limit of %g%%: ", 100 * most);
	if (r->rate_changes == 0)
		strbuf_add(line, STR("the rate was not lowered, as that takes two seconds over the "
				     "limit, and the start does not count"));
	else if (r->lowest_rate)
		strbuf_printf(line,
			"the rate was lowered to 1/%u of what was asked for, and goes "
			"no lower; sample less often, with -F or --interval",
			1u << r->halvings);
	else
		strbuf_printf(line,
			"the rate was lowered too late, at the end to 1/%u of what was "
			"asked for; sample less often, with -F or --interval",
			1u << r->halvings);
}

/* Reports the overhead if there was a limit. */
static void say_overhead(
	const struct recorder_result *r, double most, bool quiet, struct strbuf *line)
{
	bool over = r->overhead > most;

	if (most <= 0 || (quiet && !over))
		return;
	strbuf_printf(
		line, "recording cost about %.2f%% of the target's CPU time", 100 * r->overhead);
	if (over)
		put_limit(r, most, line);
	else if (r->rate_changes == 0)
		strbuf_add(line, STR("; the rate never had to change"));
	else
		strbuf_printf(line,
			"; the rate changed %" PRIu32 " time%s to stay within %g%%, at the end it "
			"was 1/%u of what was asked for",
			r->rate_changes, r->rate_changes == 1 ? "" : "s", 100 * most,
			1u << r->halvings);
	say(line);
}

static const struct {
	enum capture_counter counter;
	const char *cause;
} truncation_causes[] = {
	{CAPTURE_TRUNCATED_MEMORY, "memory could not be read"},
	{CAPTURE_TRUNCATED_RACE, "the stack changed while being read"},
	{CAPTURE_TRUNCATED_RULE, "no unwind rule"},
	{CAPTURE_TRUNCATED_CORRUPT, "corrupt"},
	{CAPTURE_TRUNCATED_DEPTH, "too deep"},
	{CAPTURE_TRUNCATED_32BIT, "in 32-bit programs"},
};

static void say_truncated(const struct recorder_result *r, struct strbuf *line)
{
	uint64_t guessed = r->counters[CAPTURE_GUESSED_STACKS];
	const char *separator = ": ";

	if (guessed && guessed == r->truncated) {
		count_put(line, guessed, "stack");
		strbuf_add(line, STR(" with a guessed caller, none truncated"));
		say(line);
		return;
	}
	count_put(line, r->truncated - guessed, "truncated stack");
	for (size_t i = 0; i < ARRAY_SIZE(truncation_causes); i++) {
		uint64_t count = r->counters[truncation_causes[i].counter];

		if (count == 0)
			continue;
		strbuf_add(line, str_from(separator));
		number_put(line, count);
		strbuf_printf(line, " %s", truncation_causes[i].cause);
		separator = ", ";
	}
	if (guessed) {
		strbuf_add(line, STR("; "));
		count_put(line, guessed, "stack");
		strbuf_add(line, STR(" with a guessed caller"));
	}
	say(line);
}

/* Suggests what would allow copying stacks at the moment of the sample. */
static void say_cure(const struct recorder_result *r, struct strbuf *line)
{
	uint64_t cut = r->counters[CAPTURE_TRUNCATED_MEMORY] + r->counters[CAPTURE_TRUNCATED_RACE];

	if (strcmp(r->engine, "snapshot") != 0 || cut * 200 <= r->walked || !exact_lacks())
		return;
	percent_put(line, (int64_t)cut, (int64_t)r->walked);
	strbuf_add(line,
		STR(" of the stacks are cut, as the kernel's copy of them is too short; whole "));
	strbuf_add(line, geteuid() == 0
				 ? STR("in a container with --cap-add BPF --cap-add PERFMON")
				 : STR("as root or after `sudo setcap cap_bpf,cap_perfmon+ep "
				       "$(which sonde)`"));
	if (r->is_attached)
		strbuf_add(line, STR(", or where sonde starts the program itself"));
	say(line);
}

static void put_modules(const struct record_summary_modules *modules, struct strbuf *line)
{
	struct str left = strbuf_str(&modules->names);
	const char *separator = ": ";

	while (left.size > 0) {
		strbuf_add(line, str_from(separator));
		strbuf_add(line, str_take_item(&left));
		separator = ", ";
	}
	if (modules->is_cut)
		strbuf_add(line, STR(", ..."));
}

static void say_nameless(const struct record_summary *summary, struct strbuf *line)
{
	if (summary->leaves_names) {
		message_print("names are left out");
		return;
	}
	count_put(line, summary->nameless.count, "module");
	strbuf_add(line, STR(" without symbols"));
	put_modules(&summary->nameless, line);
	say(line);
}

/* Reports modules that were overwritten, or built again, while the recording ran. */
static void say_replaced(const struct record_summary *summary, struct strbuf *line)
{
	uint64_t count = summary->replaced.count;

	if (count == 0)
		return;
	count_put(line, count, "module");
	strbuf_add(line, count == 1 ? STR(" without names, as its file is another build now")
				    : STR(" without names, as their files are other builds now"));
	put_modules(&summary->replaced, line);
	say(line);
}

/* A name that needs quoting is not repeated. */
static const char *shell_name(const char *path)
{
	return path[0] == '-' || strpbrk(path, " \t\n\"'\\$`*?[]{}()<>|&;#~!") ? "FILE" : path;
}

/* Reports the recorder's own cost, including resolving names. */
static void say_own_cost(struct strbuf *line)
{
	struct rusage own;

	getrusage(RUSAGE_SELF, &own);
	uint64_t cpu_ns = (uint64_t)(own.ru_utime.tv_sec + own.ru_stime.tv_sec) * 1000000000 +
			  (uint64_t)(own.ru_utime.tv_usec + own.ru_stime.tv_usec) * 1000;
	int64_t peak_bytes = (int64_t)own.ru_maxrss * 1024;

	strbuf_add(line, STR("the recorder used "));
	time_put(line, cpu_ns);
	strbuf_add(line, STR(" of CPU time and at most "));
	scale_put(line, scale_for(STR("bytes"), (uint64_t)peak_bytes), peak_bytes);
	say(line);
}

static void say_file(const struct record_summary *summary, bool hint, struct strbuf *line)
{
	bool usual = strcmp(summary->output, RECORD_OUTPUT_DEFAULT) == 0;

	strbuf_printf(line, "wrote %s, ", summary->output);
	scale_put(line, scale_for(STR("bytes"), summary->size_bytes), (int64_t)summary->size_bytes);
	if (hint)
		strbuf_printf(line, "; next: sonde %s%s%s%s",
			summary->leaves_names ? "symbolize" : "report", usual ? "" : " ",
			usual ? "" : shell_name(summary->output),
			summary->leaves_names ? " --from DIR" : "");
	say(line);
}

/*
 * The number of missing samples at the requested interval, if that is smaller: a quicker clock,
 * used because of short threads, has many more samples, and what it did not see came before.
 */
static uint64_t missing_intervals(const struct recorder_result *r, uint64_t missing)
{
	double sampled_ns = (double)(r->cpu_ns - r->kernel_cpu_ns);
	double missing_ns = sampled_ns * (double)missing / (double)r->expected;
	uint64_t intervals = (uint64_t)(missing_ns / (double)r->interval_ns);

	return intervals < missing ? intervals : missing;
}

/*
 * Reports programs with more privileges than their caller, which lose their events when they start.
 */
static void put_denied(const struct recorder_result *r, struct strbuf *line)
{
	escape_text(line, str_from(r->denied_name));
	if (r->denied > 1)
		strbuf_printf(
			line, " and %zu more program%s", r->denied - 1, r->denied == 2 ? "" : "s");
	strbuf_printf(line,
		", set-uid or set-gid, with file capabilities or not for you to read; the kernel "
		"lets only %s sample %s",
		geteuid() == 0	 ? "a recording of the whole machine (-a)"
		: r->is_attached ? "a recording of the whole machine (-a), by root,"
				 : "root",
		r->denied == 1 ? "it" : "them");
}

/*
 * Why samples are missing.  Threads shorter than the interval are not seen by clocks that start
 * with them: at most an interval is missing at a thread's start and another at its end.  Anything
 * beyond that is due to late ticks, as on a virtual machine that does not get its CPU.  For the
 * whole machine, whose clocks start once, everything is.
 */
static const char *unsampled_cause(const struct recorder_result *r, uint64_t missing)
{
	if (r->stopped)
		return "the recording could not be written any more";
	if (r->counters[CAPTURE_LOST_THROTTLED] > 0)
		return "the kernel throttled it, by kernel.perf_event_max_sample_rate; sample less "
		       "often, with -F or --interval";
	if (!r->is_machine && missing_intervals(r, missing) <= 2 * r->threads)
		return geteuid() == 0 ? "it went by in threads and processes shorter than the "
					"interval; sample more often, with -F"
				      : "it went by in threads and processes shorter than the "
					"interval; sample more often, with -F, or as root";
	return "the machine was busy and the sampling clock late";
}

/* If samples weigh the time used, only time without the library is missing. */
static void say_unreached(const struct recorder_result *r, struct strbuf *line)
{
	if (r->unreached_cpu_ns < UNREACHED_LEAST_NS || r->unreached_cpu_ns < r->cpu_ns / 50)
		return;
	percent_put(line, (int64_t)r->unreached_cpu_ns, (int64_t)r->cpu_ns);
	strbuf_add(line, STR(" of the CPU time was not sampled, as the preloaded library was not "
			     "there: "));
	capture_stray_put(line, r->unreached_cpu_ns, &r->counters[CAPTURE_STRAY_NS]);
	say(line);
}

static void say_unsampled(const struct recorder_result *r, struct strbuf *line)
{
	if (r->by_use) {
		say_unreached(r, line);
		return;
	}
	if (unsampled(r) == 0 && r->counters[CAPTURE_DENIED_ALIVE] == 0)
		return;
	if (unsampled(r) == 0) {
		strbuf_add(line, STR("not sampled: "));
		put_denied(r, line);
		say(line);
		return;
	}
	uint64_t missing = unsampled(r) - lost(r);

	percent_put(line, (int64_t)missing, (int64_t)r->expected);
	strbuf_add(line, STR(" of the CPU time was not sampled: "));
	if (r->denied > 0) {
		strbuf_add(line, STR("it went by in "));
		put_denied(r, line);
	} else {
		strbuf_add(line, str_from(unsampled_cause(r, missing)));
	}
	say(line);
}

/* Reports problems of the preloaded library. */
static void say_library_trouble(const struct recorder_result *r)
{
	uint64_t refused = r->counters[CAPTURE_REFUSED_THREADS];
	uint64_t broken = r->counters[CAPTURE_BROKEN_RECORDS];
	uint64_t sealed = r->counters[CAPTURE_SEALED_THREADS];

	if (refused > 0)
		message_print("%" PRIu64 " thread%s not sampled: the preloaded library had no "
			      "room for %s",
			refused, refused == 1 ? " was" : "s were", refused == 1 ? "it" : "them");
	if (sealed > 0)
		message_print("sampling had to stop in %" PRIu64 " thread%s, as seccomp limits %s "
			      "system calls",
			sealed, sealed == 1 ? "" : "s", sealed == 1 ? "its" : "their");
	if (broken > 0)
		message_print("%" PRIu64 " record%s of the preloaded library %s written over by "
			      "the program",
			broken, broken == 1 ? "" : "s", broken == 1 ? "was" : "were");
}

/* Reports what the user must know even with -q. */
static void say_trouble(const struct recorder_result *r, struct strbuf *line)
{
	if (r->sampling_ended)
		message_print(
			"the kernel ended the sampling early: the target has run a program that "
			"is set-uid or set-gid, or that you may not read");
	if (r->detached)
		message_print("detached; the target continues unrecorded");
	if (r->left_out > 0)
		message_print(
			"%u thread%s not sampled: too few descriptors; more with `ulimit -n`, or "
			"as root",
			r->left_out, r->left_out == 1 ? " was" : "s were");
	say_library_trouble(r);
	if (r->children_left > 0)
		message_print("%zu child process%s went on unrecorded", r->children_left,
			r->children_left == 1 ? "" : "es");
	say_unsampled(r, line);
	if (lost(r) * 100 > r->samples + lost(r)) {
		number_put(line, lost(r));
		strbuf_add(line, STR(" samples were lost, "));
		percent_put(line, (int64_t)lost(r), (int64_t)(lost(r) + r->samples));
		strbuf_add(line, STR(": sample less often, with -F or --interval"));
		say(line);
	}
}

void record_summary_print(const struct record_summary *summary, bool quiet, bool hint)
{
	struct strbuf line = {0};

	say_trouble(summary->result, &line);
	say_overhead(summary->result, summary->overhead_most, quiet, &line);
	if (!quiet) {
		say_samples(summary->result, &line);
		say_thinned(summary->result, &line);
		say_pauses(summary->result, &line);
		say_excluded(summary, &line);
		say_events(summary->result, &line);
		say_zones(summary->result, &line);
		say_kernel(summary->result, &line);
		say_truncated(summary->result, &line);
		say_cure(summary->result, &line);
		say_nameless(summary, &line);
		say_replaced(summary, &line);
		if (!summary->result->is_dump)
			say_own_cost(&line);
		if (summary->size_bytes > 0)
			say_file(summary, hint, &line);
	}
	strbuf_deinit(&line);
}
