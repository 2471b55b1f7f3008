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
 * Opens an ELF file for reading.  path may be a /proc/PID/… path.  ERROR_SYSTEM if it can't be
 * opened, ERROR_INPUT if it is no ELF file (or one of another class or byte order than
 * little-endian 64 bit: ERROR_UNSUPPORTED).
 */
must_use struct error *objfile_open(const char *path, struct objfile **file);
/* The same on bytes in memory, which must outlive it (the vdso, tests). name: for messages. */
must_use struct error *objfile_open_memory(
	const void *bytes, size_t size, const char *name, struct objfile **file);
/*
 * The same for ELF files of any class and byte order.  Of others than little-endian 64-bit ones
 * only facts, segments and sections may be asked for; what is in sections is then in their order.
 */
must_use struct error *objfile_open_any(const char *path, struct objfile **file);
must_use struct error *objfile_open_any_memory(
	const void *bytes, size_t size, const char *name, struct objfile **file);
void objfile_close(struct objfile *file);

const char *objfile_name(const struct objfile *file);
/* Lower-case hex, empty if it has none; the objfile's. */
struct str objfile_build_id(const struct objfile *file);
/* EM_X86_64, EM_AARCH64, … */
unsigned int objfile_machine(const struct objfile *file);
bool objfile_is_64bit(const struct objfile *file);
bool objfile_is_big_endian(const struct objfile *file);
/* The obj_addr where execution begins, 0: none (most libraries). */
uint64_t objfile_entry(const struct objfile *file);

struct objfile_segment { /* PT_LOAD */
	uint64_t file_off, file_size, obj_addr, memory_size;
	bool executable;
};
size_t objfile_segment_count(const struct objfile *file);
struct objfile_segment objfile_segment(const struct objfile *file, size_t i);
/*
 * The slide of a mapping of this file: va - obj_addr, for [va, …) mapped from file_off.  False if
 * no segment holds file_off.  Where two segments share a page of the file, the one that begins
 * there is meant, and rather an executable one.
 */
bool objfile_slide(const struct objfile *file, uint64_t va, uint64_t file_off, uint64_t *slide);

struct objfile_section {
	uint64_t obj_addr, file_off;
	const uint8_t *bytes; /* decompressed; the objfile's; NULL for SHT_NOBITS */
	size_t size;
	uint32_t type, index, link;
	uint64_t entry_size, flags;
};
/*
 * Where sections that took long to unpack are kept from one opening of a file to the next.  key
 * names the section's contents, and is safe as a part of a file's name.
 */
struct objfile_store {
	/* The section of that many bytes, to be freed by the objfile; NULL: not kept. */
	uint8_t *(*load)(void *context, const char *key, size_t size);
	void (*keep)(void *context, const char *key, const uint8_t *bytes, size_t size);
	void *context;
};
/* store must outlive the file. */
void objfile_set_store(struct objfile *file, const struct objfile_store *store);

/* The first section of that name; false if there is none or it cannot be read. */
bool objfile_section(struct objfile *file, const char *name, struct objfile_section *section);
/* The first section of that SHT_ type. */
bool objfile_section_of_type(struct objfile *file, uint32_t type, struct objfile_section *section);
/* By number, for a section's link. */
bool objfile_section_at(struct objfile *file, uint32_t index, struct objfile_section *section);
/* What its header says, without reading it: bytes is NULL, size as in the file. */
bool objfile_section_header(struct objfile *file, uint32_t index, struct objfile_section *section);
/* The same of the first section of that name. */
bool objfile_header_named(struct objfile *file, const char *name, struct objfile_section *section);

/* Where an address of the object stands in the file, and how many bytes of its segment follow. */
bool objfile_place(
	const struct objfile *file, uint64_t obj_addr, uint64_t *file_off, uint64_t *left);
/* Copies size bytes of the file; false if they are not all there. */
bool objfile_read(struct objfile *file, uint64_t file_off, uint8_t *bytes, size_t size);
/* The same, the objfile's; NULL if they are not all there. */
const uint8_t *objfile_bytes(struct objfile *file, uint64_t file_off, uint64_t size);

/*
 * Where unwind rules are: .eh_frame, which is found without section headers too, and .debug_frame.
 * Fills sections[2], returns how many there are.  *object: what their entries' addresses may be
 * relative to.
 */
struct cfi_section;
struct cfi_object;
size_t objfile_cfi_sections(
	struct objfile *file, struct cfi_section *sections, struct cfi_object *object);
/* .eh_frame_hdr, the index of .eh_frame, by section or by program header; false: there is none. */
bool objfile_eh_frame_hdr(struct objfile *file, struct objfile_section *section);
/* The same without reading it. */
bool objfile_eh_frame_hdr_header(struct objfile *file, struct objfile_section *section);

/* The machine code, for rules that are read off it; no ranges for other machines than x86-64. */
struct cfi_code;
void objfile_code(struct objfile *file, struct cfi_code *code);
/* Adds what data point to, functions among it, in objects that may be loaded anywhere. */
struct code_starts;
void objfile_add_relocated(struct objfile *file, struct code_starts *starts);

/*
 * Unwind rules from .eh_frame and .debug_frame, off code that these do not cover, and for start-up
 * code that has none there (see obj/cfi.h); NULL if it has none of these.  Hardly anything is read
 * before the rules are asked for, so that the file must outlive the table.
 */
struct cfi_table;
must_use struct cfi_table *objfile_open_cfi(struct objfile *file);

#endif
