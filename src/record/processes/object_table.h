#ifndef SONDE_RECORD_PROCESSES_OBJECT_TABLE_H
#define SONDE_RECORD_PROCESSES_OBJECT_TABLE_H

/*
 * The load objects of a recording: files that processes mapped as code, the vdso, code made at run
 * time, the kernel and its modules.  Each has a number, which is its id in the capture file, and is
 * stored once, even if several processes map it.
 *
 * A file is opened as soon as a process maps it, so that it can still be read after it was deleted,
 * or its mount namespace is gone.  It is parsed, and its unwind rules are compiled, only when a
 * stack first goes through it: most are never needed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "formats/sonde/layout/capture.h"
#include "record/file/capture_writer.h"

struct cfi_table;
struct kernel_mark;
struct object_table;

/* A mapping as the kernel reported it. */
struct object_origin {
	int64_t pid;
	int64_t parent_pid; /* whose root is tried if the process is gone; 0: unknown */
	struct str path;
	uint64_t low_va, high_va;
	uint64_t device, inode; /* as the kernel numbers them; 0: unknown */
	uint64_t time_ns;	/* when it was mapped, or later; CLOCK_MONOTONIC; 0: unknown */
};

/* writer NULL: objects are not written, as there is no recording. */
must_use returns_owned struct object_table *object_table_create(struct capture_writer *writer);
void object_table_destroy(struct object_table *t);

/* The object of a mapping; a new one is written to the file. */
uint32_t object_table_mapped(struct object_table *t, const struct object_origin *origin);
/* An object that is not a file.  name: "[truncated]", "[zones]" … */
uint32_t object_table_named(struct object_table *t, enum capture_object_kind kind, struct str name);
/* The kernel or one of its modules; a new one is written to the file, with its marks. */
struct object_kernel {
	struct str name; /* "[kernel]", "[ext4]" */
	struct str build_id;
	const struct kernel_mark *marks;
	size_t mark_count;
};
uint32_t object_table_kernel(struct object_table *t, const struct object_kernel *kernel);

/*
 * Code made at run time may be replaced at its address.  A process may describe its code in a file
 * (jitdump).  Then object_table_generation makes, from the object of all such code, an object for
 * the code from begin_ns until it is replaced.
 */
bool object_table_is_jit(const struct object_table *t, uint32_t object);
/* Where the jitdump of an object can be opened; empty: there is none. */
struct str object_table_jitdump(const struct object_table *t, uint32_t object);
uint32_t object_table_generation(struct object_table *t, uint32_t object, uint64_t begin_ns);
/* A new object for code of a process that replaced other code at its address, by a perf map. */
uint32_t object_table_generated(struct object_table *t, int64_t pid);

/*
 * Opens the object and compiles its unwind rules, if that has not been tried.  False: it cannot be
 * opened.
 */
bool object_table_open(struct object_table *t, uint32_t object);
/* Its unwind rules; NULL: none, or not open. */
struct cfi_table *object_table_cfi(const struct object_table *t, uint32_t object);
/* Frees all unwind rules, as no stack is walked any more; mappings must not use theirs. */
void object_table_free_rules(struct object_table *t);
/*
 * The slide (va - obj_addr) of a mapping of an open object at va from file_off.  If the object is
 * not a file, or cannot be opened, its addresses are file offsets.
 */
uint64_t object_table_slide(
	const struct object_table *t, uint32_t object, uint64_t va, uint64_t file_off);

/*
 * Whether the file has been written to since it was mapped, so that its contents may be something
 * else; build IDs are not compared.
 */
bool object_table_is_replaced(const struct object_table *t, uint32_t object);

/* Reads bytes of an object's file at a file offset.  False: not all could be read. */
bool object_table_read(const struct object_table *t, uint32_t object, uint64_t file_off,
	uint8_t *bytes, size_t size);
/* The same at an obj_addr of an open object. */
bool object_table_read_code(const struct object_table *t, uint32_t object, uint64_t obj_addr,
	uint8_t *bytes, size_t size);

size_t object_table_count(const struct object_table *t);
struct object_info {
	struct str path, open_path, build_id; /* open_path: where to open it now; empty: at path */
	enum capture_object_kind kind;
	int64_t pid;	   /* the first that mapped it; 0: none */
	uint64_t begin_ns; /* CLOCK_MONOTONIC: of a generation; its open_path is the jitdump */
	uint32_t origin;   /* of a generation: the object of all such code; else itself */
};
struct object_info object_table_info(const struct object_table *t, uint32_t object);

/* ---- code made at run time ---- */

/*
 * Finds the generation of a process's run-time code that a sample was in.  The function at an
 * address changes, but names are resolved at the end, when the times of stacks are no longer known.
 * Also has the unwind rules that the process provides for its code.
 */

struct generated_names;
struct process;

struct jit_table {
	struct object_table *objects;
	struct generated_names *names; /* NULL: no perf maps */
	struct map by_object;	       /* index in code */
	VEC(struct jit_code *) code;
	uint64_t bad_before; /* in programs that are gone */
};

struct cfi_rule;

void jit_table_init(
	struct jit_table *t, struct object_table *objects, struct generated_names *names);
void jit_table_deinit(struct jit_table *t);
/*
 * The object for an object's code at va in the process, at that time: by its jitdump, else by its
 * perf map.
 */
uint32_t jit_table_object(struct jit_table *t, const struct process *p, uint32_t object,
	uint64_t va, uint64_t time_ns);
/*
 * Whether code of the object has replaced other code since the last call.  False if it has no
 * unwind rules: rules derived from the code itself are better kept, as the process may have ended,
 * and they could not be derived again.
 */
bool jit_table_has_turned(struct jit_table *t, uint32_t object, uint64_t time_ns);
/* The unwind rule of the object's code at va, at that time; see jit_rules_find. */
bool jit_table_rule(
	struct jit_table *t, uint32_t object, uint64_t va, uint64_t time_ns, struct cfi_rule *rule);
/* The number of skipped records in jitdumps: invalid, or without room. */
uint64_t jit_table_bad_records(const struct jit_table *t);

#endif
