#ifndef SONDE_FORMATS_SONDE_CAPTURE_NAMES_H
#define SONDE_FORMATS_SONDE_CAPTURE_NAMES_H

/*
 * What the frames of a capture file are called: each address in a load object becomes a chain of
 * the builder's frames.  First the names in the file count; for addresses that have none there,
 * where asked for, the load objects on this machine.
 */

#include "formats/sonde/layout/capture_rows.h"
#include "base/cursor.h"
#include "base/map.h"
#include "base/vec.h"
#include "formats/sonde/layout/capture_stacks.h"
#include "model/builder.h"

/* A load object as the file has it. */
struct capture_names_object {
	object_id id;		   /* the builder's; NO_ID for "[truncated]" and the like */
	uint32_t kind;		   /* enum capture_object_kind */
	struct str path, build_id; /* in the arena */
	bool is_missing;	   /* its file is not to be had here */
	struct str open_path;	   /* where to open it now, if that is elsewhere; else empty */
	/* Addresses of frames, once resolved: with a name; in a function without one; in none. */
	uint64_t named, nameless, unknown;
};

/* Addresses that stand for another one: see struct capture_address. */
struct capture_names_address {
	uint64_t first, count, obj_addr;
	uint32_t object;
};

/* The builder's frames of one address. */
struct capture_chain {
	uint32_t first, count; /* in frame_ids; the outermost first */
	bool is_known;	       /* the function is known */
	bool is_nameless;      /* but by its start only */
	bool is_truncated;     /* is the "[truncated]" root */
	bool is_guessed;       /* is "[guessed]" */
	bool is_shared;	       /* its outermost frame may be that of other addresses, too */
};

struct capture_names {
	struct builder *builder;
	struct arena *arena;
	struct str host, kernel; /* of the recording, to be set if known; in the arena */
	bool is_this_kernel;	 /* known by other means to be the one that runs here */
	struct map object_of_id; /* the file's id → objects */
	VEC(struct capture_names_object) objects;
	struct map symbols; /* (object, obj_addr) → chains */
	VEC(struct capture_chain) chains;
	VEC(frame_id) frame_ids;
	/* Made when first needed, in a profile that was written; unknown: of no known object. */
	struct capture_chain truncated, guessed, unknown;
	bool is_profile; /* the file holds a profile, no recording: to be set before it is read */
	VEC(struct capture_names_address) addresses; /* sorted with the first SYMBOLS */
	bool has_unsampled;			     /* there are rows of what is in no sample */
	bool addresses_sorted;
};

/* What kind of load object, in a profile, a recording's enum capture_object_kind is; unknown
 * numbers are OBJECT_UNKNOWN. */
enum object_kind capture_names_kind(uint32_t kind);

void capture_names_init(struct capture_names *n, struct builder *b, struct arena *arena);
void capture_names_deinit(struct capture_names *n);
/* One load object; a row that repeats an id is passed over. */
void capture_names_add_object(struct capture_names *n, const struct capture_object *row);
/* The OBJECTS rows of a chunk; a row that repeats an id is passed over. */
must_use struct error *capture_names_read_objects(struct capture_names *n, struct cursor *payload);
/* An ADDRESSES chunk; all of them before the first SYMBOLS. */
must_use struct error *capture_names_read_addresses(
	struct capture_names *n, struct cursor *payload);
/* A SYMBOLS chunk. */
must_use struct error *capture_names_read_symbols(struct capture_names *n, struct cursor *payload);
/*
 * chains[i] for frames[i].  ask_local: look on this machine for names that the file does not have.
 */
void capture_names_resolve(struct capture_names *n, const struct capture_frame *frames,
	size_t count, bool ask_local, struct capture_chain *chains);

/* The chain of a stack's part that is not known. */
const struct capture_chain *capture_names_truncated(struct capture_names *n);
const struct capture_chain *capture_names_unknown(struct capture_names *n);

/* Adds the names of one address, innermost frame first. */
void capture_names_add(struct capture_names *n, uint32_t object, uint64_t obj_addr,
	const struct capture_symbol_frame *frames, uint32_t count);
/* NULL if the file defines no such object. */
struct capture_names_object *capture_names_object(struct capture_names *n, uint32_t object);
/* Makes notes of the objects whose code has no names, or a few, once all is resolved. */
void capture_names_note(const struct capture_names *n);

#endif
