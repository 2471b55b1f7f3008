#ifndef SONDE_MODEL_COMMON_NOTES_H
#define SONDE_MODEL_COMMON_NOTES_H

/*
 * The notes of several profiles as one list: equal ones, and losses that differ in the singular and
 * plural, are one note.
 *
 *	common_notes_init(&notes);
 *	common_notes_add(&notes, kind, count, text);      for each note
 *	common_notes_put(&notes, builder, "files");
 *	common_notes_deinit(&notes);
 */

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/profile.h"

struct builder;

struct common_note {
	enum note_kind kind;
	struct str text; /* of the greatest count; in the arena */
	uint64_t sum, most;
	size_t times; /* how often it was added */
};

struct common_notes {
	struct arena *arena;
	struct str_table keys;
	struct map place_of; /* (key, kind) */
	VEC(struct common_note) rows;
};

void common_notes_init(struct common_notes *n);
void common_notes_deinit(struct common_notes *n);
/* The text is copied. */
void common_notes_add(struct common_notes *n, enum note_kind kind, uint64_t count, struct str text);
/* Adds them to a builder, in the order in which they were first added.  whole: "files". */
void common_notes_put(const struct common_notes *n, struct builder *b, const char *whole);

#endif
