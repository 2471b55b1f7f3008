/* The texts for troubles: a sentence for one and another for several, one row each. */
#include "formats/sonde/capture_trouble.h"

#include "base/compiler.h"

/* The texts for a trouble: for one occurrence, and for several, after the count. */
struct trouble {
	enum note_kind kind;
	const char *one, *several;
};

static const struct trouble counter_troubles[CAPTURE_COUNTER_COUNT] = {
	[CAPTURE_LOST_RING] = {NOTE_LOST, "a sample was lost: the ring buffer was full",
		"samples were lost: the ring buffer was full"},
	[CAPTURE_LOST_THROTTLED] = {NOTE_LOST, "the kernel throttled sampling once",
		"times the kernel throttled sampling"},
	[CAPTURE_TRUNCATED_MEMORY] = {NOTE_TRUNCATED,
		"a stack is truncated: its memory could not be read",
		"stacks are truncated: their memory could not be read"},
	[CAPTURE_TRUNCATED_RACE] = {NOTE_TRUNCATED,
		"a stack is truncated: it changed while being read",
		"stacks are truncated: they changed while being read"},
	[CAPTURE_TRUNCATED_RULE] = {NOTE_TRUNCATED,
		"a stack is truncated: its code has no unwind rule",
		"stacks are truncated: their code has no unwind rule"},
	[CAPTURE_TRUNCATED_CORRUPT] = {NOTE_TRUNCATED,
		"a stack is truncated: its frames do not lead outwards",
		"stacks are truncated: their frames do not lead outwards"},
	[CAPTURE_TRUNCATED_DEPTH] = {NOTE_TRUNCATED,
		"a stack is truncated: it is deeper than can be recorded",
		"stacks are truncated: they are deeper than can be recorded"},
	[CAPTURE_TRUNCATED_32BIT] = {NOTE_TRUNCATED,
		"a stack is unknown: its program is a 32-bit one",
		"stacks are unknown: their programs are 32-bit ones"},
	[CAPTURE_GUESSED_STACKS] = {NOTE_GUESSED, CAPTURE_GUESSED_NOTE("a stack contains"),
		CAPTURE_GUESSED_NOTE("stacks contain")},
	[CAPTURE_NO_USER_STACK] = {NOTE_TRUNCATED, "a sample has kernel frames only",
		"samples have kernel frames only"},
	[CAPTURE_REUSE_WRONG] = {NOTE_GUESSED,
		"a stack failed the check of reused frames; a few others may be wrong",
		"stacks failed the check of reused frames; a few others may be wrong"},
	[CAPTURE_THINNED] = {NOTE_GUESSED,
		"a sample was not walked, as the recorder fell behind: the next sample of its "
		"thread weighs more",
		"samples were not walked, as the recorder fell behind: the next samples of their "
		"threads weigh more"},
	[CAPTURE_LEFT_OUT_THREADS] = {NOTE_LOST,
		"a thread was not sampled: its events could not be opened",
		"threads were not sampled: their events could not be opened"},
	[CAPTURE_LOST_RESTS] = {NOTE_GUESSED,
		"the rest of a stack found no room, and was read from the process, a little later",
		"rests of stacks found no room, and were read from the process, a little later"},
	[CAPTURE_BROKEN_RECORDS] = {NOTE_LOST,
		"a record of the preloaded library was written over by the program",
		"records of the preloaded library were written over by the program"},
	[CAPTURE_REFUSED_THREADS] = {NOTE_LOST,
		"a thread was not sampled: the preloaded library had no room for it",
		"threads were not sampled: the preloaded library had no room for them"},
	[CAPTURE_SEALED_THREADS] = {NOTE_LOST,
		"a thread was left by the preloaded library, as seccomp limits its system calls",
		"threads were left by the preloaded library, as seccomp limits their system calls"},
	[CAPTURE_BAD_JITDUMPS] = {NOTE_BAD_RECORD,
		"a record of a jitdump was skipped: it is unreadable, or too large",
		"records of jitdumps were skipped: they are unreadable, or too large"},
	[CAPTURE_BAD_MAP_LINES] = {NOTE_BAD_RECORD,
		"a line of a perf map was skipped: it is not a start, a size and a name",
		"lines of perf maps were skipped: they are not a start, a size and a name"},
	[CAPTURE_OLD_MAPS] = {NOTE_NO_SYMBOLS,
		"a perf map was not believed: it is older than its process",
		"perf maps were not believed: they are older than their processes"},
	[CAPTURE_OTHER_MAPS] = {NOTE_NO_SYMBOLS,
		"a perf map was not believed: it is not a file of the process's user",
		"perf maps were not believed: they are not files of their processes' users"},
	[CAPTURE_CUT_MAPS] = {NOTE_NO_SYMBOLS,
		"a perf map was not read to its end: it takes too much memory",
		"perf maps were not read to their ends: they take too much memory"},
	[CAPTURE_UNSURE_NAMES] = {NOTE_GUESSED,
		"a frame of generated code has the last of several names: its perf map was read "
		"later",
		"frames of generated code have the last of several names: their perf maps were "
		"read later"},
	[CAPTURE_LOST_SIDEBAND] = {NOTE_GUESSED,
		"a map, fork, exec or exit event was lost: some code may have a wrong name",
		"map, fork, exec or exit events were lost: some code may have a wrong name"},
	[CAPTURE_LOST_SWITCHES] = {NOTE_GUESSED,
		"a record of a thread's switch was lost: its time may be divided wrongly",
		"records of threads' switches were lost: their time may be divided wrongly"},
	[CAPTURE_LOST_WAKINGS] = {NOTE_GUESSED,
		"a waking, of whatever thread, was lost: a wake-up delay may be blocked time",
		"wakings, of whatever threads, were lost: wake-up delays may be blocked time"},
};

static const struct trouble file_troubles[] = {
	[CAPTURE_MISSING_PARTS] = {NOTE_BAD_RECORD, "a part of the file is missing",
		"parts of the file are missing"},
	[CAPTURE_LOST_LABELS] = {NOTE_BAD_RECORD,
		"a sample lost its labels: they are in a damaged part of the file",
		"samples lost their labels: they are in a damaged part of the file"},
	[CAPTURE_ORPHANS] = {NOTE_TRUNCATED,
		"a stack leads into a part of the file that is missing",
		"stacks lead into a part of the file that is missing"},
	[CAPTURE_LEFT_OUT_FRAMES] = {NOTE_TRUNCATED,
		"an inlined frame was left out: there are too many for a file of this size",
		"inlined frames were left out: there are too many for a file of this size"},
	[CAPTURE_MISSING_SAMPLES] = {NOTE_LOST, "a sample was lost with a damaged part of the file",
		"samples were lost with damaged parts of the file"},
	[CAPTURE_DROPPED_SAMPLES] = {NOTE_LOST,
		"a sample could not be written to the file: the disk was full, or a limit reached",
		"samples could not be written to the file: the disk was full, or a limit reached"},
	[CAPTURE_RESTORED_CALLERS] = {NOTE_INFO,
		"a sample has a restored caller: it had left its frame by a jump, as [tail call] "
		"shows; debug information tells which it was",
		"samples have restored callers: these had left their frames by a jump, as [tail "
		"call] shows; debug information tells which they were"},
};

/* Adds nothing if count is 0. */
static void note(struct builder *b, const struct trouble *trouble, uint64_t count)
{
	if (count && trouble->one)
		builder_note(b, trouble->kind, count, "%s",
			count == 1 ? trouble->one : trouble->several);
}

void capture_trouble_note(struct builder *b, enum capture_trouble trouble, uint64_t count)
{
	note(b, &file_troubles[trouble], count);
}

void capture_trouble_counters(struct builder *b, const uint64_t *counters)
{
	for (size_t i = 0; i < CAPTURE_COUNTER_COUNT; i++)
		note(b, &counter_troubles[i], counters[i]);
}

/*
 * Allowed difference between a metric's samples and its events, as a percentage and as a number of
 * samples: the last few events never have a sample.
 */
#define UNCOUNTED_PERCENT 2
#define UNCOUNTED_FEW	  16

void capture_trouble_metric(
	struct builder *b, struct str name, uint64_t lost, uint64_t sum, uint64_t counted)
{
	uint64_t off = sum > counted ? sum - counted : counted - sum;

	if (lost)
		builder_note(b, NOTE_LOST, lost,
			lost == 1 ? "a sample of %.*s was lost: the ring buffer was full"
				  : "samples of %.*s were lost: the ring buffer was full",
			STR_ARG(name));
	if (counted > 0 && off > UNCOUNTED_FEW && off > counted / 100 * UNCOUNTED_PERCENT)
		builder_note(b, NOTE_GUESSED, off,
			sum < counted ? "%.*s were counted that no sample stands for"
				      : "more %.*s are in samples than were counted",
			STR_ARG(name));
}
