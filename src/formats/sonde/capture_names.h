#ifndef SONDE_FORMATS_SONDE_CAPTURE_NAMES_H
#define SONDE_FORMATS_SONDE_CAPTURE_NAMES_H

/*
 * Names of a capture file's frames: each address in a load object becomes a chain of the builder's
 * frames.  Names in the file come first; for other addresses, the load objects on this machine are
 * used if requested.
 */

#include "formats/sonde/layout/capture_rows.h"
#include "base/cursor.h"
#include "base/map.h"
#include "base/vec.h"
#include "formats/sonde/layout/capture_stacks.h"
#include "model/builder.h"

/* A load object in the file. */
struct kernel_mark;

struct capture_names_object {
	object_id id;			 /* in the builder; NO_ID for "[truncated]" and the like */
	uint32_t kind;			 /* enum capture_object_kind */
	struct str path, build_id;	 /* in the arena */
	bool is_missing;		 /* its file is not available here */
	bool is_replaced;		 /* its file is another build now */
	struct str open_path;		 /* where to open it now, if elsewhere; else empty */
	const struct kernel_mark *marks; /* [mark_count], of a kernel object; in the arena */
	size_t mark_count;
	/* Resolved addresses of frames: with a name; in a nameless function; in no function. */
	uint64_t named, nameless, unknown;
	uint64_t guessed_starts; /* of the nameless */
};

/* Addresses that represent another one: see struct capture_address. */
struct capture_names_address {
	uint64_t first, count, obj_addr;
	uint32_t object;
};

/* The builder's frames for one address. */
struct capture_chain {
	uint32_t first, count;	/* in frame_ids; outermost first */
	bool is_known;		/* the function is known */
	bool is_nameless;	/* but only its start is known */
	bool has_guessed_start; /* which may be wrong */
	bool is_truncated;	/* it is the "[truncated]" root */
	bool is_guessed;	/* it is "[guessed]" */
	bool is_shared;		/* its outermost frame may also be that of other addresses */
};

struct build_source;
struct symbol_frame;

struct capture_names {
	struct builder *builder;
	struct arena *arena;
	struct str host, kernel;     /* of the recording, set if known; in the arena */
	struct build_source *source; /* as in struct symbolize_options; set it if there is one */
	bool is_this_kernel;	 /* set if it is known by other means that the kernel runs here */
	struct map object_of_id; /* id in the file → objects */
	VEC(struct capture_names_object) objects;
	struct map symbols; /* (object, obj_addr) → chains */
	VEC(struct capture_chain) chains;
	VEC(frame_id) frame_ids;
	/* Made when first needed.  unknown: for a missing object, in a written profile. */
	struct capture_chain truncated, guessed, unknown;
	bool is_profile; /* the file holds a profile, not a recording; set before reading */
	VEC(struct capture_names_address) addresses; /* sorted before the first SYMBOLS */
	bool has_unsampled;			     /* there are rows of time without samples */
	bool addresses_sorted;
};

/*
 * The profile's kind for a recording's enum capture_object_kind; OBJECT_UNKNOWN for unknown
 * numbers.
 */
enum object_kind capture_names_kind(uint32_t kind);
/* A frame of a resolved address as recordings have it; its strings are the frame's own. */
struct capture_symbol_frame capture_names_frame(const struct symbol_frame *frame);

void capture_names_init(struct capture_names *n, struct builder *b, struct arena *arena);
void capture_names_deinit(struct capture_names *n);
/* Adds a load object; of a row with a known id, only is_replaced is taken. */
void capture_names_add_object(struct capture_names *n, const struct capture_object *row);
/* Reads the OBJECTS rows of a chunk. */
must_use struct error *capture_names_read_objects(struct capture_names *n, struct cursor *payload);
/* Reads an ADDRESSES chunk; read all of them before the first SYMBOLS. */
must_use struct error *capture_names_read_addresses(
	struct capture_names *n, struct cursor *payload);
/* Reads a SYMBOLS chunk. */
must_use struct error *capture_names_read_symbols(struct capture_names *n, struct cursor *payload);
/* Sets chains[i] for frames[i].  ask_local: search this machine for names missing in the file. */
void capture_names_resolve(struct capture_names *n, const struct capture_frame *frames,
	size_t count, bool ask_local, struct capture_chain *chains);

/* The chain for the unknown part of a stack. */
const struct capture_chain *capture_names_truncated(struct capture_names *n);
const struct capture_chain *capture_names_unknown(struct capture_names *n);
/*
 * The chain of a restored caller: the function of a resolved chain, "f", is "f [tail call]".
 * Without a name, it is empty.
 */
struct capture_chain capture_names_restored(
	struct capture_names *n, const struct capture_chain *chain);

/* Adds the names of one address, innermost frame first. */
void capture_names_add(struct capture_names *n, uint32_t object, uint64_t obj_addr,
	const struct capture_symbol_frame *frames, uint32_t count);
/* NULL if the file does not define the object. */
struct capture_names_object *capture_names_object(struct capture_names *n, uint32_t object);
/* Adds notes about objects whose code lacks names, after all is resolved. */
void capture_names_note(const struct capture_names *n);

#endif
