/*
 * Notes and statistics of a profile from perf.data: what was lost, truncated, damaged, guessed or
 * skipped.
 */
#include "formats/perf/data_reader.h"

#include "formats/common/importer.h"
#include "formats/sonde/capture_trouble.h"

#include <inttypes.h>
#include <stdio.h>

/* The texts for a problem: for one occurrence, and for several, after the count. */
struct trouble {
	enum note_kind kind;
	const char *one, *several;
};

static const struct trouble cut_troubles[PERF_DATA_CUT_COUNT] = {
	[PERF_DATA_CUT_MAX] = {NOTE_TRUNCATED,
		"a stack is truncated: the kernel follows only a limited number of frame pointers",
		"stacks are truncated: the kernel follows only a limited number of frame pointers"},
	[PERF_DATA_CUT_CALLS] = {NOTE_TRUNCATED,
		"a stack is truncated: the processor records only a limited number of calls",
		"stacks are truncated: the processor records only a limited number of calls"},
	[PERF_DATA_CUT_MEMORY] = {NOTE_TRUNCATED,
		"a stack is truncated: it is larger than the part that perf record copied",
		"stacks are truncated: they are larger than the parts that perf record copied"},
	[PERF_DATA_CUT_RULE] = {NOTE_TRUNCATED,
		"a stack is truncated: its code has no unwind information, or its file is missing",
		"stacks are truncated: their code has no unwind information, or its file is "
		"missing"},
	[PERF_DATA_CUT_CORRUPT] = {NOTE_TRUNCATED,
		"a stack is truncated: its frames do not lead outwards",
		"stacks are truncated: their frames do not lead outwards"},
	[PERF_DATA_CUT_NO_STACK] = {NOTE_TRUNCATED,
		"a stack is truncated: its registers belong to code that sonde cannot unwind",
		"stacks are truncated: their registers belong to code that sonde cannot unwind"},
	[PERF_DATA_CUT_ROOM] = {NOTE_TRUNCATED,
		"a stack was left out: there are more distinct stacks than sonde keeps",
		"stacks were left out: there are more distinct stacks than sonde keeps"},
};

static void note(struct perf_data *p, const struct trouble *trouble, uint64_t count)
{
	if (count)
		builder_note(p->builder, trouble->kind, count, "%s",
			count == 1 ? trouble->one : trouble->several);
}

static void note_losses(struct perf_data *p)
{
	static const struct trouble lost_records = {NOTE_LOST,
		"a record was lost: the ring buffer was full",
		"records were lost: the ring buffer was full"};
	static const struct trouble lost_samples = {
		NOTE_LOST, "a sample was lost by the kernel", "samples were lost by the kernel"};
	static const struct trouble throttled = {NOTE_LOST, "the kernel throttled sampling once",
		"times the kernel throttled sampling"};
	static const struct trouble left_out = {NOTE_LOST,
		"a sample was left out: the file has more events than are kept apart",
		"samples were left out: the file has more events than are kept apart"};
	static const struct trouble unmapped = {NOTE_LOST,
		"a mapping was left out: there are more than are kept apart",
		"mappings were left out: there are more than are kept apart"};
	static const struct trouble unkept = {NOTE_LOST,
		"a task was not distinguished from another: there are too many",
		"tasks were not distinguished from others: there are too many"};

	static const struct trouble guesses = {NOTE_GUESSED,
		CAPTURE_GUESSED_NOTE("a stack contains"), CAPTURE_GUESSED_NOTE("stacks contain")};

	note(p, &lost_records, p->file.lost_records);
	note(p, &lost_samples, p->file.lost_samples);
	note(p, &throttled, p->file.throttled);
	note(p, &left_out, p->left_out);
	note(p, &unmapped, p->tasks.unkept_maps);
	note(p, &unkept, p->tasks.unkept_tasks);
	for (size_t i = 0; i < PERF_DATA_CUT_COUNT; i++)
		note(p, &cut_troubles[i], p->stacks.cuts[i]);
	note(p, &guesses, p->stacks.guesses);
}

static void note_maps(struct perf_data *p)
{
	static const struct trouble beliefs[PERF_DATA_MAP_BELIEF_COUNT] = {
		[PERF_DATA_MAP_LATE] = {NOTE_INFO,
			"a perf map was changed after the recording: its names are wrong if "
			"another "
			"process has had the same number since",
			"perf maps were changed after the recording: their names are wrong if "
			"other processes have had the same numbers since"},
		[PERF_DATA_MAP_OLD] = {NOTE_NO_SYMBOLS,
			"a perf map was not believed: it is older than its process",
			"perf maps were not believed: they are older than their processes"},
		[PERF_DATA_MAP_NEWER] = {NOTE_NO_SYMBOLS,
			"a perf map was not believed: it was changed after its process ended",
			"perf maps were not believed: they were changed after their processes "
			"ended"},
		[PERF_DATA_MAP_FOREIGN] = {NOTE_NO_SYMBOLS,
			"a perf map in /tmp was not believed: the recording is of another machine; "
			"put that machine's map next to the perf.data file",
			"perf maps in /tmp were not believed: the recording is of another machine; "
			"put that machine's maps next to the perf.data file"},
	};

	for (size_t i = PERF_DATA_MAP_GOOD + 1; i < PERF_DATA_MAP_BELIEF_COUNT; i++)
		note(p, &beliefs[i], p->jit.maps.counts[i]);
}

static void note_damage(struct perf_data *p)
{
	const struct perf_data_file *file = &p->file;
	static const struct trouble heavy = {NOTE_BAD_RECORD,
		"a sample weighs more than can be counted, and counts nothing",
		"samples weigh more than can be counted, and count nothing"};
	static const struct trouble bad_jit = {NOTE_BAD_RECORD,
		"a record of a jitdump was skipped: it is unreadable, or too large",
		"records of jitdumps were skipped: they are unreadable, or too large"};
	char place[64] = "among what was packed";

	note(p, &heavy, p->too_heavy);
	note(p, &bad_jit, perf_data_jit_bad_records(&p->jit));
	if (file->first_bad_offset != UINT64_MAX)
		snprintf(place, sizeof(place), "at offset 0x%" PRIx64, file->first_bad_offset);
	if (file->bad_records)
		builder_note(p->builder, NOTE_BAD_RECORD, file->bad_records,
			"%s could not be read, the first %s%s%s",
			file->bad_records == 1 ? "record" : "records", place,
			file->first_bad_part ? " of " : "",
			file->first_bad_part ? file->first_bad_part : "");
	if (file->lacks_parts)
		builder_note(p->builder, NOTE_INCOMPLETE, 1,
			"perf record --threads has put most records into files of their own, which "
			"are not here");
	if (!file->has_data_size)
		builder_note(p->builder, NOTE_INCOMPLETE, 1,
			"perf record did not come to its end, so names of events and build-ids "
			"are missing");
	else if (file->is_cut)
		builder_note(p->builder, NOTE_INCOMPLETE, 1, "the file is cut off");
}

static void note_guesses(struct perf_data *p)
{
	uint64_t count = 0;

	for (size_t i = 0; i < p->objects.rows.count; i++)
		count += p->objects.rows.data[i].is_guess;
	if (count)
		builder_note(p->builder, NOTE_GUESSED, count,
			"load objects without a build-id were taken to be this machine's files of "
			"the same path and layout");
}

/* Types that do not affect stacks need no note. */
static bool is_expected(uint32_t type)
{
	static const char *const expected[] = {"ID_INDEX", "THREAD_MAP", "CPU_MAP", "TIME_CONV",
		"FINISHED_INIT", "HEADER_EVENT_TYPE", "HEADER_TRACING_DATA", "STAT_CONFIG", "AUX",
		"ITRACE_START", "AUX_OUTPUT_HW_ID", "UNTHROTTLE", "BPF_EVENT", "KSYMBOL", "CGROUP",
		"NAMESPACES", "READ", "BPF_METADATA"};

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		if (strcmp(expected[i], perf_data_type_name(type)) == 0)
			return true;
	return false;
}

static void note_unknown(struct perf_data *p)
{
	struct strbuf list = {0};
	uint64_t count = p->file.unknown_others;

	for (uint32_t type = 0; type < PERF_DATA_TYPE_COUNT; type++) {
		uint64_t records = p->file.unknown[type];

		if (records == 0 || is_expected(type))
			continue;
		strbuf_printf(&list, "%s%" PRIu64 " %s", list.size ? ", " : "", records,
			perf_data_type_name(type));
		count += records;
	}
	if (p->file.unknown_others)
		strbuf_printf(&list, "%s%" PRIu64 " of types that sonde does not know",
			list.size ? ", " : "", p->file.unknown_others);
	if (list.size)
		builder_note(p->builder, NOTE_INFO, count,
			"records that sonde has no use for were skipped: %s", list.data);
	strbuf_deinit(&list);
}

/* The contents of AUXTRACE_INFO: tools/perf/util/auxtrace.h. */
static const char *trace_name(uint32_t kind)
{
	static const char *const names[] = {"of an unknown kind", "Intel PT", "Intel BTS",
		"ARM CoreSight", "ARM SPE", "s390 CPU-MF", "HiSilicon PTT", "POWER VPA DTL"};

	return names[kind < ARRAY_SIZE(names) ? kind : 0];
}

/* Notes about hardware traces and branches, which are not stacks. */
static void note_hardware(struct perf_data *p)
{
	const struct perf_data_file *file = &p->file;

	if (file->traces)
		builder_note(p->builder, NOTE_INFO, file->traces,
			"traces of hardware (%s, %" PRIu64 " bytes) were skipped: sonde cannot "
			"decode them, but reads what 'perf inject --itrace=i100us' makes of them",
			trace_name(file->trace_kind), file->trace_bytes);
	counted_note(p->builder, NOTE_INFO, p->plain_branches,
		"a sample has a branch stack (perf record -b), which is not active calls, and was "
		"skipped",
		"samples have branch stacks (perf record -b), which are not active calls, and "
		"were skipped");
}

static void set_stats(struct perf_data *p)
{
	struct builder_header *header = builder_header(p->builder);
	struct profile_stats *stats = &header->stats;
	const struct perf_data_facts *facts = &p->file.facts;
	const struct perf_data_event *event = &p->file.events.rows.data[0];
	const struct perf_data_measure *measure = &p->measures.data[0];

	stats->lost = p->file.lost_records + p->file.lost_samples;
	stats->foreign = p->foreign;
	stats->critical = p->critical;
	stats->guessed = p->guessed;
	if (p->has_time)
		stats->duration_ns = p->end_ns - p->start_ns;
	if (str_equal(event->unit, STR("ns")) && event->metric == 0 && event->period) {
		stats->interval_asked_ns =
			event->is_freq ? UINT64_C(1000000000) / event->period : event->period;
		if (p->rows.count && p->measures.count == 1)
			stats->interval_ns = measure->sum / p->rows.count;
	}
	header->command = builder_string(p->builder, facts->command);
	header->host = builder_string(p->builder, facts->host);
	if (facts->wall_ns && p->has_time)
		header->start_unix_ns = facts->wall_ns + p->start_ns - facts->clock_ns;
}

void perf_data_say(struct perf_data *p)
{
	note_losses(p);
	note_maps(p);
	note_damage(p);
	note_unknown(p);
	note_hardware(p);
	note_guesses(p);
	capture_names_note(&p->names);
	set_stats(p);
}
