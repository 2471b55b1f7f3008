#ifndef SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_SYMBOLS_H
#define SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_SYMBOLS_H

/*
 * A SYMBOLS chunk: the names of addresses.  It has its own tables of strings and functions.
 */

#include "base/arena.h"
#include "base/cursor.h"
#include "base/str.h"
#include "formats/sonde/layout/capture.h"

/*
 * What is kept of a name and of a chain of inlined calls: longer names are cut, of longer chains
 * the frames between the innermost and the outermost are left out.
 */
enum { CAPTURE_NAME_MAX = 16384, CAPTURE_CHAIN_MAX = 256 };

struct capture_symbols_encoder;
must_use returns_owned struct capture_symbols_encoder *capture_symbols_encoder_create(void);
void capture_symbols_encoder_destroy(struct capture_symbols_encoder *e);
/* frames[count], innermost first, count > 0.  Ascending addresses take the least space. */
void capture_symbols_add(struct capture_symbols_encoder *e, uint32_t object, uint64_t obj_addr,
	const struct capture_symbol_frame *frames, uint32_t count);
/* About how many bytes wait to be encoded. */
size_t capture_symbols_waiting(const struct capture_symbols_encoder *e);
/* A chunk's payload of what waits, which is then no more. */
void capture_symbols_encode(struct capture_symbols_encoder *e, struct strbuf *out);

/* An address; its frames are to be asked for next. */
struct capture_symbol {
	uint32_t object;
	uint64_t obj_addr;
	uint32_t count; /* of frames, 1 to CAPTURE_CHAIN_MAX */
};

struct capture_function {
	struct str name, file, aliases;
	uint32_t line;
	uint32_t file_number; /* of the string */
};

/* Goes over a chunk's addresses and, for each, its frames. */
struct capture_symbols_decoder {
	struct str *strings;		    /* in the arena; borrowed bytes */
	struct capture_function *functions; /* in the arena */
	uint64_t string_count, function_count;
	uint64_t left;	   /* addresses */
	uint64_t run_left; /* of one object */
	uint64_t function; /* the last frame's */
	struct capture_symbol before;
	struct cursor addresses, counts, flags, function_numbers, files, lines;
};
/* The tables live in the arena, the strings themselves in the payload. */
must_use struct error *capture_symbols_begin(
	struct capture_symbols_decoder *d, struct cursor *payload, struct arena *arena);
/* False at the end and at a bad row. */
bool capture_symbols_next(struct capture_symbols_decoder *d, struct capture_symbol *symbol);
/* To be called symbol->count times after capture_symbols_next.  False where it cannot be read. */
bool capture_symbols_frame(struct capture_symbols_decoder *d, struct capture_symbol_frame *frame);
/* NULL if all that was read so far was good. */
must_use struct error *capture_symbols_error(const struct capture_symbols_decoder *d);

#endif
