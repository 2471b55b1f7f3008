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
 * Adds nothing where count is 0; `one` is the sentence for 1, `many` goes behind a number, which is
 * added here for kinds whose number views do not show (note_shows_count).  Where `one` is NULL,
 * `many` is the whole sentence, whatever the count.
 */
void counted_note(
	struct builder *b, enum note_kind kind, uint64_t count, const char *one, const char *many);

/* What may be wrong with an input: a format has an enum of its faults and an array of these. */
struct fault {
	uint64_t count;
	uint64_t first; /* where: an offset in the input, or a line's number */
};

enum fault_place {
	FAULT_NOWHERE,	 /* not said */
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

/* The notes of faults[count] in the words of notes[count]. */
void fault_notes(struct builder *b, const struct fault *faults, const struct fault_note *notes,
	size_t count);

/* Lines of a text that are not what they should be: counted, the first of them by number. */
#define BAD_LINES_TOLD 8
struct bad_lines {
	uint64_t count;
	uint64_t told[BAD_LINES_TOLD]; /* numbers of the first ones */
};

void bad_lines_add(struct bad_lines *lines, uint64_t line_number);
/* Makes the note of them, if there are any. */
void bad_lines_note(const struct bad_lines *lines, struct builder *b);

/* The note of JSON that ends early or is broken; nothing where it is whole. */
void json_damage_note(const struct json_reader *r, struct builder *b);

/* ---- Processes and threads */

/*
 * Those of an input by what it tells them apart by: a number, and a string for what else it is, or
 * 0.  All zero at first.  They are given to the builder at first sight, with the name they have
 * then.
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
 * The load object that a name stands for where nothing else is known of it: "[kernel…" is the
 * kernel's; NO_ID of the empty name.
 */
object_id object_of_module(struct builder *b, struct str module);
/* "[unknown]", of no object. */
frame_id frame_unknown(struct builder *b);
/* A frame of what the symbolizer found. */
frame_id frame_of_symbol(
	struct builder *b, const struct symbol_frame *symbol, object_id object, uint64_t obj_addr);
/* What code without a name is called: "[MODULE+0xADDRESS]", "[0xADDRESS]" where path is empty. */
string_id nameless_code(struct builder *b, struct str path, uint64_t addr);

#endif
