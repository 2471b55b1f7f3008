#ifndef SONDE_OBJ_OBJFILE_H
#define SONDE_OBJ_OBJFILE_H

/*
 * One ELF file: its segments, sections, build ID. libelf reads the container; only this file uses
 * it.  Addresses are the file's own ("obj_addr", as in p_vaddr).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct objfile;

/*
 * Opens an ELF file for reading.  path may be a /proc/PID/… path.  ERROR_SYSTEM if it cannot be
 * opened, ERROR_INPUT if it is not an ELF file, ERROR_UNSUPPORTED if it is not little-endian
 * 64-bit.
 */
must_use struct error *objfile_open(const char *path, struct objfile **file);
/* The same for bytes in memory, which must outlive it (the vdso, tests).  name: for messages. */
must_use struct error *objfile_open_memory(
	const void *bytes, size_t size, const char *name, struct objfile **file);
/*
 * The same for ELF files of any class and byte order.  If a file is not little-endian 64-bit, only
 * facts, segments and sections may be requested; the contents of sections then have the file's byte
 * order.
 */
must_use struct error *objfile_open_any(const char *path, struct objfile **file);
must_use struct error *objfile_open_any_memory(
	const void *bytes, size_t size, const char *name, struct objfile **file);
void objfile_close(struct objfile *file);

const char *objfile_name(const struct objfile *file);
/* Lower-case hex, empty if it has none; owned by the objfile. */
struct str objfile_build_id(const struct objfile *file);
/* EM_X86_64, EM_AARCH64, … */
unsigned int objfile_machine(const struct objfile *file);
bool objfile_is_64bit(const struct objfile *file);
bool objfile_is_big_endian(const struct objfile *file);
/* Whether it is what a compiler wrote, or a kernel module: without segments and addresses. */
bool objfile_is_relocatable(const struct objfile *file);
/* The obj_addr where execution begins, 0: none (most libraries). */
uint64_t objfile_entry(const struct objfile *file);
/* The bytes of the ELF header and the program headers, from the file's start. */
uint64_t objfile_headers_size(const struct objfile *file);

struct objfile_segment { /* PT_LOAD */
	uint64_t file_off, file_size, obj_addr, memory_size;
	bool executable;
};
size_t objfile_segment_count(const struct objfile *file);
struct objfile_segment objfile_segment(const struct objfile *file, size_t i);
/*
 * The slide of a mapping of this file: va - obj_addr, for [va, …) mapped from file_off.  False if
 * no segment contains file_off.  If two segments share a page of the file, it is that of the one
 * that begins there, preferably an executable one.
 */
bool objfile_slide(const struct objfile *file, uint64_t va, uint64_t file_off, uint64_t *slide);

struct objfile_section {
	uint64_t obj_addr, file_off;
	const uint8_t *bytes; /* decompressed; owned by the objfile; NULL for SHT_NOBITS */
	size_t size;
	uint32_t type, index, link;
	uint64_t entry_size, flags;
};
/*
 * Keeps sections that took long to decompress from one opening of a file to the next.  key
 * identifies the section's contents, and is safe as a part of a file name.
 */
struct objfile_store {
	/* The section, size bytes, which the objfile frees; NULL: not kept. */
	uint8_t *(*load)(void *context, const char *key, size_t size);
	void (*keep)(void *context, const char *key, const uint8_t *bytes, size_t size);
	void *context;
};
/* store must outlive the file. */
void objfile_set_store(struct objfile *file, const struct objfile_store *store);

/* The first section with that name; false if there is none or it cannot be read. */
bool objfile_section(struct objfile *file, const char *name, struct objfile_section *section);
/* The first section with that SHT_ type. */
bool objfile_section_of_type(struct objfile *file, uint32_t type, struct objfile_section *section);
/* By number, for a section's link. */
bool objfile_section_at(struct objfile *file, uint32_t index, struct objfile_section *section);
/* Only the section's header: bytes is NULL, size is that in the file. */
bool objfile_section_header(struct objfile *file, uint32_t index, struct objfile_section *section);
/* The same for the first section with that name. */
bool objfile_header_named(struct objfile *file, const char *name, struct objfile_section *section);
/* Whether the file has the contents of a section: of code, debug files have only the header. */
bool objfile_has_contents(struct objfile *file, const char *name);

/* The file offset of an address of the object, and how many bytes of its segment follow. */
bool objfile_place(
	const struct objfile *file, uint64_t obj_addr, uint64_t *file_off, uint64_t *left);
/* Copies size bytes of the file; false if some are missing. */
bool objfile_read(struct objfile *file, uint64_t file_off, uint8_t *bytes, size_t size);
/* The same bytes, owned by the objfile; NULL if some are missing. */
const uint8_t *objfile_bytes(struct objfile *file, uint64_t file_off, uint64_t size);

/*
 * The sections with unwind rules: .eh_frame, which is found even without section headers, and
 * .debug_frame.  Fills sections[2], returns how many there are.  *object: the addresses that their
 * entries may be relative to.
 */
struct cfi_section;
struct cfi_object;
size_t objfile_cfi_sections(
	struct objfile *file, struct cfi_section *sections, struct cfi_object *object);
/* .eh_frame_hdr, the index of .eh_frame, by section or by program header; false: there is none. */
bool objfile_eh_frame_hdr(struct objfile *file, struct objfile_section *section);
/* The same without reading the section. */
bool objfile_eh_frame_hdr_header(struct objfile *file, struct objfile_section *section);

/* The machine code, to derive rules from; no ranges for machines other than x86-64. */
struct cfi_code;
void objfile_code(struct objfile *file, struct cfi_code *code);
/*
 * Adds the targets of pointers in data, some of which are functions, for position-independent
 * objects.
 */
struct code_starts;
void objfile_add_relocated(struct objfile *file, struct code_starts *starts);

/*
 * Unwind rules from .eh_frame and .debug_frame, from code that these do not cover, and for start-up
 * code without rules (see obj/cfi.h); NULL if the object has none of these.  Hardly anything is
 * read before rules are requested, so the file must outlive the table.
 */
struct cfi_table;
must_use struct cfi_table *objfile_open_cfi(struct objfile *file);

#endif
