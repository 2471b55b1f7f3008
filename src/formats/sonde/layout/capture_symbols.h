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
 * Limits: longer names are truncated; longer chains of inlined calls lose frames between the
 * innermost and the outermost.
 */
enum { CAPTURE_NAME_MAX = 16384, CAPTURE_CHAIN_MAX = 256 };

struct capture_symbols_encoder;
must_use returns_owned struct capture_symbols_encoder *capture_symbols_encoder_create(void);
void capture_symbols_encoder_destroy(struct capture_symbols_encoder *e);
/* frames[count], innermost first, count > 0.  Adding addresses in order takes the least space. */
void capture_symbols_add(struct capture_symbols_encoder *e, uint32_t object, uint64_t obj_addr,
	const struct capture_symbol_frame *frames, uint32_t count);
/* Approximate number of bytes not encoded yet. */
size_t capture_symbols_waiting(const struct capture_symbols_encoder *e);
/* Appends a chunk's payload with everything waiting, and removes it. */
void capture_symbols_encode(struct capture_symbols_encoder *e, struct strbuf *out);

/* An address; read its frames next. */
struct capture_symbol {
	uint32_t object;
	uint64_t obj_addr;
	uint32_t count; /* number of frames, 1 to CAPTURE_CHAIN_MAX */
};

struct capture_function {
	struct str name, file, aliases;
	uint32_t line;
	uint32_t file_number; /* number of the string */
};

/* Iterates over a chunk's addresses and their frames. */
struct capture_symbols_decoder {
	struct str *strings;		    /* in the arena; bytes are borrowed */
	struct capture_function *functions; /* in the arena */
	uint64_t string_count, function_count;
	uint64_t left;	   /* addresses */
	uint64_t run_left; /* addresses left of one object */
	uint64_t function; /* of the previous frame */
	struct capture_symbol before;
	struct cursor addresses, counts, flags, function_numbers, files, lines;
};
/* The tables are in the arena, the strings in the payload. */
must_use struct error *capture_symbols_begin(
	struct capture_symbols_decoder *d, struct cursor *payload, struct arena *arena);
/* False at the end and at a bad row. */
bool capture_symbols_next(struct capture_symbols_decoder *d, struct capture_symbol *symbol);
/* Call it symbol->count times after capture_symbols_next.  False if the data is invalid. */
bool capture_symbols_frame(struct capture_symbols_decoder *d, struct capture_symbol_frame *frame);
/* NULL if everything read so far was valid. */
must_use struct error *capture_symbols_error(const struct capture_symbols_decoder *d);

#endif
