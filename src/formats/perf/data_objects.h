#ifndef SONDE_FORMATS_PERF_DATA_OBJECTS_H
#define SONDE_FORMATS_PERF_DATA_OBJECTS_H

/*
 * The load objects of a perf.data file: where they can be opened on this machine, if at all, and
 * the names of their code.
 *
 * A file is searched at the path that the program saw, next to the perf.data file, in perf's own
 * cache (~/.debug/.build-id) and among debug files (/usr/lib/debug/.build-id).  One with a
 * different build ID is not used.  If no build ID is known (perf records it only for objects in
 * which samples were taken), the path is used if the recording was made on this machine or has no
 * host name; else if its code is mapped as this file's would be, which is a guess.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/builder.h"
#include "obj/kernel_file.h"
#include "formats/perf/data_file.h"

struct cfi_table;
struct objfile;

struct perf_data_object {
	struct str path, build_id; /* in the arena */
	enum object_kind kind;
	bool is_tried, is_cfi_tried;
	bool is_guess;		    /* only path and layout indicate that it is the file that ran */
	uint64_t map_off, map_size; /* the first mapping of its code, in the file; 0, 0: none */
	struct objfile *file;	    /* NULL: unavailable, not tried, or closed again */
	struct file_bytes bytes;    /* for cfi_file */
	struct objfile *cfi_file;   /* the file that cfi reads, if it is not `file`; else NULL */
	struct str open_path;	    /* where it was found; in the arena */
	struct cfi_table *cfi;	    /* NULL: none, or not tried */
	struct kernel_mark mark;    /* of the kernel or a module; va 0: not known */
};

struct perf_data_objects {
	const struct perf_data_file *file;
	struct arena *arena;
	struct str_table keys; /* to the same index in rows */
	VEC(struct perf_data_object) rows;
	bool keeps_open; /* so that code can be read; set it before the first is opened */
	size_t open_count;
	struct map slides; /* by object and file offset: differences of slides from the simple
			      ones */
	VEC(uint64_t) distances;
	struct build_source *source; /* as in struct reader_input; set by the caller */
	bool is_this_machine;	     /* by host name */
	const struct arch *arch;     /* of the recording; NULL: its stacks cannot be walked */
	bool is_this_kernel;	     /* its names can be used */
	uint64_t kernel_va;	     /* start of the kernel's code when recording; 0: unknown */
};

void perf_data_objects_init(
	struct perf_data_objects *o, const struct perf_data_file *file, struct arena *arena);
void perf_data_objects_deinit(struct perf_data_objects *o);

/* The object's number; added if new. */
uint32_t perf_data_objects_add(
	struct perf_data_objects *o, struct str path, struct str build_id, enum object_kind kind);
/* The same for a kernel mapping: "[kernel]", "[ext4]". */
uint32_t perf_data_objects_add_kernel(
	struct perf_data_objects *o, struct str path, struct str build_id);

/* Subtract it from addresses at low_va, mapped from file_off, to get the object's addresses. */
uint64_t perf_data_objects_slide(
	struct perf_data_objects *o, uint32_t object, uint64_t low_va, uint64_t file_off);
/* Whether its file is unavailable. */
bool perf_data_objects_is_missing(struct perf_data_objects *o, uint32_t object);
/* Unwind rules; NULL: none. */
struct cfi_table *perf_data_objects_cfi(struct perf_data_objects *o, uint32_t object);
/* Copies code at an obj_addr; false: unavailable. */
bool perf_data_objects_code(struct perf_data_objects *o, uint32_t object, uint64_t obj_addr,
	uint8_t *bytes, size_t size);

/* After reading: checks whether the running kernel is the recorded one. */
void perf_data_objects_check_kernel(struct perf_data_objects *o);
#endif
