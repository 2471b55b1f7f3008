#ifndef SONDE_SYMBOLIZE_RESOLVER_H
#define SONDE_SYMBOLIZE_RESOLVER_H

/*
 * A resolver answers for addresses from one kind of source.
 *
 * To add one:
 *  1. write resolve_NAME.c, which ends in one `const struct resolver resolver_NAME`;
 *  2. declare it below, and give it its row in symbolize.c's array: the order there is the order in
 *     which they are asked;
 *  3. add the file to this folder's meson.build, and a test.
 */

#include "base/map.h"
#include "obj/objfile.h"
#include "symbolize/symbolize.h"

struct demangler;
struct jitdump;
struct kernel_names;

/* What lasts from one batch to the next. */
struct symbolizer {
	struct symbolize_options options;
	char *cache_directory; /* NULL: no cache */
	char *debug_directory;
	struct demangler *demangler;
	struct kernel_names *kernel_names;
	struct jitdump *jitdump; /* the last one read: its generations come one after the other */
	char *jitdump_path;
	struct objfile_store sections;
};

/* One batch. */
struct resolve_job {
	struct symbolizer *symbolizer;
	const struct symbolize_object *object;
	const uint64_t *obj_addrs;
	size_t count;
	bool *is_known; /* [count]: places[i] is answered, if only with "nothing", for good */
	struct symbol_place *places;
	struct symbolize_status *status;
	struct arena *arena;	  /* of the places */
	struct str_table strings; /* in arena, each once */
	bool is_costly; /* answering took long enough for the answers to be worth keeping */
};

struct resolver {
	const char *name;
	/* Whether it knows anything of objects of that kind. */
	bool (*fits)(enum object_kind kind);
	/* Answers what it can of the places that are not known, and marks them so. */
	void (*resolve)(struct resolve_job *job);
	/* Told at the end, if not NULL, when all have answered. */
	void (*finish)(struct resolve_job *job);
};

extern const struct resolver resolver_cache;
extern const struct resolver resolver_elf;
extern const struct resolver resolver_jitdump;
extern const struct resolver resolver_kernel;
extern const struct resolver resolver_perfmap;
extern const struct resolver resolver_starts;

/* The string, once in the job's arena. */
struct str resolve_string(struct resolve_job *job, struct str s);
/* Answers place i with a name alone, and the others of the same code. */
void resolve_with_name(struct resolve_job *job, size_t i, struct str function, struct str aliases);
/* Where the object is to be opened now. */
struct str resolve_open_path(const struct symbolize_object *object);
/* Opens the object if it is the one that ran; else NULL, and the status says why. */
struct objfile *resolve_open_object(struct resolve_job *job);
/* Sets the status' problem, if there is none yet, to a copy of that sentence. */
void resolve_problem(struct resolve_job *job, const char *format, ...) printf_like(2, 3);

#endif
