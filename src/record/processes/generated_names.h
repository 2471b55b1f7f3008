#ifndef SONDE_RECORD_PROCESSES_GENERATED_NAMES_H
#define SONDE_RECORD_PROCESSES_GENERATED_NAMES_H

/*
 * Names of code generated at run time, from perf maps (obj/perfmap.h).
 *
 * A process's map is opened when its generated code is first sampled, and read as it grows, so it
 * is known even if the process, its mount namespace or the file is gone later.  A sample has the
 * name that was the newest at its time.  An address whose code is replaced has several names: its
 * object stands for the first, and further objects for the next ones.
 *
 * Code that a process inherited from its parent has the parent's names, until its own map has some.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

struct generated_code;
struct object_table;
struct process;
struct process_table;

/* What an object stands for: the number-th names of that code. */
struct generated_meaning {
	uint32_t code, number;
};

struct generated_names {
	struct object_table *objects;
	struct process_table *processes;
	struct map by_program; /* (a process's number, how many programs it ran before): code */
	struct map by_object;  /* meanings */
	VEC(struct generated_meaning) meanings;
	VEC(struct generated_code *) code;
	uint64_t memory; /* of all maps */
	uint64_t unsure; /* see struct generated_counts */
};

void generated_names_init(
	struct generated_names *t, struct object_table *objects, struct process_table *processes);
void generated_names_deinit(struct generated_names *t);

/*
 * The object that stands for the code at va, in generated code of the process, at that time.
 * object: the mapping's.  Times ascend, but for small differences.
 */
uint32_t generated_names_object(struct generated_names *t, const struct process *p, uint32_t object,
	uint64_t va, uint64_t time_ns);
/* Follows the process's map only: its code has names elsewhere (a jitdump), perhaps not all. */
void generated_names_follow(struct generated_names *t, const struct process *p, uint32_t object);

/* Reads all maps to their present end. */
void generated_names_finish(struct generated_names *t);
/* What was not read, or is uncertain. */
struct generated_counts {
	/* Frames with the last of several names that were read at once, after the sample. */
	uint64_t unsure;
	uint64_t bad_lines;
	uint64_t old_maps;   /* not believed: older than their process */
	uint64_t other_maps; /* not believed: no regular file, too large, or of another user */
	uint64_t cut_maps;   /* of which a part was not read, as there was no memory for it */
};
struct generated_counts generated_names_counts(const struct generated_names *t);
/* The name of the object's code at va. */
bool generated_names_find(
	const struct generated_names *t, uint32_t object, uint64_t va, struct str *name);

#endif
