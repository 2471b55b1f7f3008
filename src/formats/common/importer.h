#ifndef SONDE_FORMATS_COMMON_IMPORTER_H
#define SONDE_FORMATS_COMMON_IMPORTER_H

/*
 * Code shared by readers, between their own tables and the builder: counts and reports faults of
 * the input, distinguishes processes and threads, and makes frames from names.
 */

#include "base/json_reader.h"
#include "base/map.h"
#include "model/builder.h"
#include "symbolize/symbolize.h"

/* ---- Notes */

/*
 * Adds nothing if count is 0.  `one` is the sentence for 1; `many` follows a number, which is added
 * here unless views show the number of such notes (note_shows_count).  If `one` is NULL, `many` is
 * the whole sentence for any count.
 */
void counted_note(
	struct builder *b, enum note_kind kind, uint64_t count, const char *one, const char *many);

/* A possible fault of an input.  A format has an enum of its faults and an array of these. */
struct fault {
	uint64_t count;
	uint64_t first; /* its place: an offset in the input, or a line number */
};

enum fault_place {
	FAULT_NOWHERE,	 /* the place is not shown */
	FAULT_OFFSET,	 /* ", the first at offset 0x1f" */
	FAULT_OFFSET_DEC /* ", the first at offset 31" */
};

/* The note of a fault, in the order of the enum. */
struct fault_note {
	enum note_kind kind;
	const char *one, *many; /* as counted_note takes them */
	enum fault_place place;
};

static inline void fault_add(struct fault *fault, uint64_t where)
{
	if (fault->count++ == 0)
		fault->first = where;
}

/* Adds the notes of faults[count], worded by notes[count]. */
void fault_notes(struct builder *b, const struct fault *faults, const struct fault_note *notes,
	size_t count);

/* Invalid lines of a text: their count, and the numbers of the first ones. */
#define BAD_LINES_TOLD 8
struct bad_lines {
	uint64_t count;
	uint64_t told[BAD_LINES_TOLD]; /* numbers of the first ones */
};

void bad_lines_add(struct bad_lines *lines, uint64_t line_number);
/* Adds those of the next part of the text, whose numbers there begin again at 1 after `before`. */
void bad_lines_append(struct bad_lines *lines, const struct bad_lines *next, uint64_t before);
/*
 * The refusal of a text that is malformed in more than half of its lines, so that the rest tells
 * nothing; NULL: it is not.  good: lines that are not; what: "folded stacks".
 */
must_use struct error *bad_lines_refuse(
	const struct bad_lines *lines, uint64_t good, const char *name, const char *what);
/* Adds a note of them, if there are any. */
void bad_lines_note(const struct bad_lines *lines, struct builder *b);

/* Adds a note that nothing could be read from that offset on. */
void early_end_note(struct builder *b, uint64_t offset, const char *problem);
/* Adds a note about stacks that would have more frames than a file of this size may have. */
void cut_stacks_note(struct builder *b, uint64_t count);
/* Adds a note if the JSON is truncated or damaged. */
void json_damage_note(const struct json_reader *r, struct builder *b);

/* ---- Processes and threads */

/*
 * The processes and threads of an input, by what distinguishes them there: a number, and a string
 * for anything else, or 0.  All zero at first.  They are added to the builder when first seen, with
 * the name they have then.
 */
struct task_ids {
	struct map processes; /* (pid, apart) → process_id */
	struct map threads;   /* (process and apart, tid) → thread_id */
};

void task_ids_deinit(struct task_ids *t);
process_id task_process(
	struct task_ids *t, struct builder *b, int64_t pid, string_id apart, string_id name);
thread_id task_thread(struct task_ids *t, struct builder *b, process_id process, int64_t tid,
	string_id apart, string_id name);

/* ---- Frames */

/* A frame without a line, of a function known only by name; object.i may be NO_ID. */
frame_id frame_of_name(struct builder *b, string_id name, object_id object, uint64_t obj_addr);
/*
 * The load object of a name, if nothing else is known about it: "[kernel…" is the kernel; NO_ID for
 * the empty name.
 */
object_id object_of_module(struct builder *b, struct str module);
/* "[unknown]", without an object. */
frame_id frame_unknown(struct builder *b);
/* A frame for a symbolizer's result. */
frame_id frame_of_symbol(
	struct builder *b, const struct symbol_frame *symbol, object_id object, uint64_t obj_addr);
/* The name of code without a symbol: "[MODULE+0xADDRESS]", or "[0xADDRESS]" if path is empty. */
string_id nameless_code(struct builder *b, struct str path, uint64_t addr);

#endif
