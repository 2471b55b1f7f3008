#ifndef SONDE_RECORD_PROCESSES_OBJECT_TABLE_H
#define SONDE_RECORD_PROCESSES_OBJECT_TABLE_H

/*
 * The load objects of a recording: files that processes mapped as code, the vdso, code made at run
 * time, the kernel and its modules.  Each has a number, which is its id in the capture file, and
 * stands once, in however many processes it is mapped.
 *
 * A file is opened as soon as it is seen mapped, so that it can be read even if it is deleted, or
 * its mount namespace is gone, by the time that it is needed.  It is looked into, and its unwind
 * rules compiled, only when a stack first goes through it: most are never asked for.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "formats/sonde/layout/capture.h"
#include "record/file/capture_writer.h"

struct cfi_table;
struct object_table;

/* A mapping as the kernel reported it. */
struct object_origin {
	int64_t pid;
	struct str path;
	const char *build_id; /* hex; "" if not known */
	uint64_t low_va, high_va;
	uint64_t inode; /* 0: not known */
};

/* writer NULL: of no recording, objects are written nowhere. */
must_use returns_owned struct object_table *object_table_create(struct capture_writer *writer);
void object_table_destroy(struct object_table *t);

/* The object that is mapped there; a new one is written to the file. */
uint32_t object_table_mapped(struct object_table *t, const struct object_origin *origin);
/* Objects that are no file. name: "[kernel]", "[truncated]", a module's name. */
uint32_t object_table_named(struct object_table *t, enum capture_object_kind kind, struct str name);

/*
 * Code made at run time changes at its address.  From an object of such code that the process says
 * more of in a file (jitdump), the object that stands for the code from begin_ns on until there is
 * other code.
 */
bool object_table_is_jit(const struct object_table *t, uint32_t object);
/* Where the file can be opened that tells of an object's code; empty: there is none. */
struct str object_table_jitdump(const struct object_table *t, uint32_t object);
uint32_t object_table_generation(struct object_table *t, uint32_t object, uint64_t begin_ns);

/* Opens the object and compiles its unwind rules if that has not been tried. False: can't be. */
bool object_table_open(struct object_table *t, uint32_t object);
/* Its unwind rules; NULL: none, or not opened. */
struct cfi_table *object_table_cfi(const struct object_table *t, uint32_t object);
/*
 * The slide (va - obj_addr) of a mapping of an opened object at va from file_off.  Objects that are
 * no file, or can't be opened, count their addresses from file_off.
 */
uint64_t object_table_slide(
	const struct object_table *t, uint32_t object, uint64_t va, uint64_t file_off);

/* Copies bytes out of an object's file, at a file offset. False: they are not all there. */
bool object_table_read(const struct object_table *t, uint32_t object, uint64_t file_off,
	uint8_t *bytes, size_t size);
/* The same at an obj_addr of an opened object. */
bool object_table_read_code(const struct object_table *t, uint32_t object, uint64_t obj_addr,
	uint8_t *bytes, size_t size);

size_t object_table_count(const struct object_table *t);
struct object_info {
	struct str path, open_path, build_id; /* open_path: where to open it now; empty: at path */
	enum capture_object_kind kind;
	int64_t pid;	   /* that mapped it first; 0: none */
	uint64_t begin_ns; /* CLOCK_MONOTONIC: of a generation, whose open_path is its jitdump */
};
struct object_info object_table_info(const struct object_table *t, uint32_t object);

#endif
