#ifndef SONDE_SYMBOLIZE_SYMBOLIZE_H
#define SONDE_SYMBOLIZE_SYMBOLIZE_H

/*
 * Address → function, file, line, with the chain of inlined calls.  A chain of resolvers (one file
 * each, one row in symbolize.c's array): the first that knows an address answers.  If only the
 * function's start is known, it stands in for the name.
 *
 * Addresses come in batches, one load object at a time, sorted: each object is opened once, and a
 * compilation unit's debug information is read at most once, only if it holds a requested address.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "model/profile.h"

struct build_source;
struct kernel_mark;
struct symbolizer;

struct symbolize_options {
	bool no_inline;		     /* one frame per address, named after the outermost function */
	const char *cache_directory; /* NULL: $XDG_CACHE_HOME/sonde/sym, "" : no cache */
	const char *debug_directory; /* NULL: /usr/lib/debug */
	/*
	 * Asked for files that this machine lacks, or of which it has no debug information; must
	 * outlive the symbolizer.  NULL: only this machine's files are used.
	 */
	struct build_source *source;
	uint64_t costly_ns; /* answers that take longer are cached; 0: those that take 5 ms */
	/* Files whose tables take more memory, by an estimate, are not read; 0: all are. */
	uint64_t memory_max;
};

must_use returns_owned struct symbolizer *symbolizer_create(
	const struct symbolize_options *options);
void symbolizer_destroy(struct symbolizer *s);

struct symbolize_object {
	struct str path; /* as the program saw it */
	struct str
		open_path; /* where to open it now, if elsewhere (/proc/PID/root/…); else empty */
	struct str build_id; /* lower-case hex; if known, a file with a different one is not used */
	enum object_kind kind;
	int64_t pid; /* OBJECT_JIT: the process, for messages; 0: unknown */
	/*
	 * OBJECT_JIT: the name of the code at va, from a perf map; NULL: none are known.  names:
	 * its context.
	 */
	bool (*generated_name)(const void *names, uint64_t va, struct str *name);
	const void *names;
	/*
	 * OBJECT_KERNEL: where it was in memory, for which the symbolizer's further source may have
	 * its file.
	 */
	const struct kernel_mark *marks;
	size_t mark_count;
	bool is_other_kernel; /* OBJECT_KERNEL: the running one has other names */
	uint64_t begin_ns;    /* OBJECT_JIT: if open_path is not empty, it is a jitdump, and this is
			    * the time to look up code at */
};

/* One frame; strings live in the arena, and are empty if unknown. */
struct symbol_frame {
	struct str function; /* demangled */
	/*
	 * For the outermost frame: other names of the same code, each ending in NUL
	 * (str_take_item).
	 */
	struct str aliases;
	struct str file; /* of the place */
	uint32_t line;	 /* of the place; 0: unknown */
	struct str function_file;
	uint32_t function_line;
	bool is_inline;	       /* inlined into the next frame of the list */
	bool is_nameless;      /* function stands in for an unknown name: "[MODULE+0xSTART]" */
	bool is_guessed_start; /* and START was found in code: it may be wrong */
};

/* The frames at one address, innermost first; count 0: unknown. */
struct symbol_place {
	const struct symbol_frame *frames;
	uint32_t count;
};

struct symbolize_status {
	bool found_file; /* the object (or kallsyms, a perf map) could be read and matches the build
			  * ID */
	bool has_names;	 /* it, or its debug file, has a symbol table */
	bool has_lines;	 /* it, or its debug file, has line information */
	bool is_other_build; /* there is a file, but it has another build ID */
	bool is_too_large;   /* its tables exceed memory_max: what the cache lacks is unknown */
	const char *problem; /* in the arena: one sentence if found_file is false or data is
			      * invalid, else NULL */
};

/*
 * Fills places[count] for obj_addrs[count] (ascending, distinct).  Never fails, whatever an object
 * contains: addresses that cannot be resolved are unknown, with the reason in *status.
 */
void symbolize_addresses(struct symbolizer *s, const struct symbolize_object *object,
	const uint64_t *obj_addrs, size_t count, struct arena *arena, struct symbol_place *places,
	struct symbolize_status *status);

#endif
