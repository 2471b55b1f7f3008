#ifndef SONDE_SYMBOLIZE_RESOLVER_H
#define SONDE_SYMBOLIZE_RESOLVER_H

/*
 * A resolver looks up addresses in one kind of source.
 *
 * To add one:
 *  1. write resolve_NAME.c, which ends in one `const struct resolver resolver_NAME`;
 *  2. declare it below, and add a row to the array in symbolize.c: resolvers are asked in its
 *     order;
 *  3. add the file to this folder's meson.build, and a test.
 */

#include "base/map.h"
#include "obj/objfile.h"
#include "symbolize/symbolize.h"

struct demangler;
struct jitdump;
struct kernel_names;
struct tail_chain;
struct tail_pair;

/* State kept between batches. */
struct symbolizer {
	struct symbolize_options options;
	char *cache_directory; /* NULL: no cache */
	char *debug_directory;
	struct demangler *demangler;
	struct kernel_names *kernel_names;
	struct jitdump *jitdump; /* the last one read; its generations follow one another */
	char *jitdump_path;
	struct objfile_store sections;
};

/* One batch. */
struct resolve_job {
	struct symbolizer *symbolizer;
	const struct symbolize_object *object;
	const uint64_t *obj_addrs;
	size_t count;
	/*
	 * [count], of unknown places: where the symbol before the address ends, so that no function
	 * without a symbol begins earlier; 0: none does.
	 */
	uint64_t *symbol_ends;
	bool *is_known; /* [count]: the answer places[i] is final, even if it is "nothing" */
	struct symbol_place *places;
	struct symbolize_status *status;
	struct arena *arena;	  /* of the places */
	struct str_table strings; /* in arena, without duplicates */
	bool is_costly;		  /* answering took so long that the answers are worth caching */
};

struct resolver {
	const char *name;
	/* Whether it can resolve objects of that kind. */
	bool (*fits)(enum object_kind kind);
	/* Answers the unknown places that it can, and marks them as known. */
	void (*resolve)(struct resolve_job *job);
	/* Called at the end, if not NULL, after all resolvers. */
	void (*finish)(struct resolve_job *job);
};

extern const struct resolver resolver_cache;
extern const struct resolver resolver_elf;
extern const struct resolver resolver_jitdump;
extern const struct resolver resolver_kernel;
extern const struct resolver resolver_kernel_file;
extern const struct resolver resolver_perfmap;
extern const struct resolver resolver_starts;

/* Interns the string in the job's arena. */
struct str resolve_string(struct resolve_job *job, struct str s);
/* Answers place i with only a name, and other names of the same code. */
void resolve_with_name(struct resolve_job *job, size_t i, struct str function, struct str aliases);
/* The path at which to open the object now. */
struct str resolve_open_path(const struct symbolize_object *object);
/* Opens the object if it is the one that ran; else returns NULL, with the reason in the status. */
struct objfile *resolve_open_here(struct resolve_job *job);
/*
 * Opens the object if it is the one that ran, or its debug file from the symbolizer's further
 * source; else returns NULL, with the reason in the status.  *home: the path next to which its
 * other files may be; it lives as long as the object and the file.
 */
struct objfile *resolve_open_object(struct resolve_job *job, struct str *home);
/*
 * Answers from the debug information and the symbol tables of an open ELF file, without its debug
 * file.  The job's addresses are the file's.
 */
void resolve_in_file(struct resolve_job *job, struct objfile *file);
/*
 * Fills chains[count] for pairs[count] of frames in an object: callers that left no frame.  None is
 * found for objects that are not the program's own, or have no debug information.
 */
void resolve_tail_calls(struct symbolizer *s, const struct symbolize_object *object,
	const struct tail_pair *pairs, size_t count, struct arena *arena,
	struct tail_chain *chains);
/* Sets the status's problem to a copy of the sentence, unless there is one already. */
void resolve_problem(struct resolve_job *job, const char *format, ...) printf_like(2, 3);

#endif
