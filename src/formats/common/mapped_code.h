#ifndef SONDE_FORMATS_COMMON_MAPPED_CODE_H
#define SONDE_FORMATS_COMMON_MAPPED_CODE_H

/*
 * Turns code known only by address, with the mappings of its load objects, into frames, using the
 * objects' files if they are on this machine.  For formats whose profiles are not, or not
 * completely, symbolized.
 *
 *	mapping = mapped_code_add(m, …)      for each
 *	mapped_code_want(m, mapping, va)     for each address
 *	mapped_code_resolve(m)               once
 *	mapped_code_frames(m, mapping, va)   of the wanted ones
 *
 * Names come only from files of user code, and only by absolute path.  If the mapping has a build
 * ID, the file's must match; otherwise the names are noted as guessed.  An address without a name
 * becomes the function "[MODULE+0xADDRESS]".
 */

#include "model/builder.h"

struct mapped_code;

struct code_mapping {
	struct str path;     /* borrowed for the call; empty: unknown */
	struct str build_id; /* the same; lower-case hex */
	uint64_t start;	     /* the va of its first byte */
	uint64_t file_off;   /* the offset of that byte in the file */
};

/* An address in no known mapping. */
#define MAPPING_NONE UINT32_MAX

/* input_size limits the names: at most 131,072 + input_size / 128 addresses get one. */
must_use returns_owned struct mapped_code *mapped_code_create(struct builder *b, size_t input_size);
void mapped_code_destroy(struct mapped_code *m);
/* Further files of load objects (struct reader_input); set before any address is wanted. */
struct build_source;
void mapped_code_use_source(struct mapped_code *m, struct build_source *source);
/* No file is opened, whatever the mappings' paths; set before any address is wanted. */
void mapped_code_open_nothing(struct mapped_code *m);
/* Returns the mapping's number, counting from 0. */
uint32_t mapped_code_add(struct mapped_code *m, const struct code_mapping *mapping);
/* The object with the mapping's path; NO_ID for MAPPING_NONE or without a path. */
object_id mapped_code_object(const struct mapped_code *m, uint32_t mapping);
void mapped_code_want(struct mapped_code *m, uint32_t mapping, uint64_t va);
/* Finds the names of all wanted addresses; adds notes about those without one. */
void mapped_code_resolve(struct mapped_code *m);
/*
 * The address in the load object's numbering, as far as known: by the segments of its file if that
 * was opened, else assuming that addresses equal file offsets, or that it is mapped at its own
 * addresses.
 */
uint64_t mapped_code_obj_addr(const struct mapped_code *m, uint32_t mapping, uint64_t va);
/*
 * The frames of a wanted address, innermost first, at least one; owned by m until it is destroyed.
 */
struct mapped_frames {
	const frame_id *frames;
	uint32_t count;
};
struct mapped_frames mapped_code_frames(const struct mapped_code *m, uint32_t mapping, uint64_t va);

/* The kind of a mapping by its file name: "[kernel.kallsyms]", "/x.ko", "[heap]", a path. */
enum object_kind object_kind_of_path(struct str path);
/* Adds a build ID to out in lower-case hex; nothing if it is invalid (as Go's own ids are). */
void build_id_normalize(struct str text, struct strbuf *out);

#endif
