#ifndef SONDE_FORMAT_CAPTURE_SYMBOLS_H
#define SONDE_FORMAT_CAPTURE_SYMBOLS_H

/*
 * A SYMBOLS chunk: the names of addresses.  It has its own string table.
 */

#include "base/arena.h"
#include "base/cursor.h"
#include "base/str.h"
#include "format/capture.h"

/*
 * What is kept of a name and of a chain of inlined calls: longer names are cut, of longer chains
 * the frames between the innermost and the outermost are left out.
 */
enum { CAPTURE_NAME_MAX = 16384, CAPTURE_CHAIN_MAX = 256 };

struct capture_symbols_encoder;
must_use returns_owned struct capture_symbols_encoder *capture_symbols_encoder_create(void);
void capture_symbols_encoder_destroy(struct capture_symbols_encoder *e);
/* frames[count], innermost first, count > 0. */
void capture_symbols_add(struct capture_symbols_encoder *e, uint32_t object, uint64_t obj_addr,
	const struct capture_symbol_frame *frames, uint32_t count);
/* About how many bytes wait to be encoded. */
size_t capture_symbols_waiting(const struct capture_symbols_encoder *e);
/* A chunk's payload of what waits, which is then no more. */
void capture_symbols_encode(struct capture_symbols_encoder *e, struct strbuf *out);

struct capture_symbol {
	uint32_t object;
	uint64_t obj_addr;
	uint32_t count; /* of frames */
};

/* Goes over a chunk's addresses and, for each, its frames. */
struct capture_symbols_decoder {
	struct cursor rows;
	struct str *strings; /* in the arena; borrowed bytes */
	uint64_t string_count;
	uint64_t left; /* addresses */
	struct capture_symbol before;
};
/* The table of strings lives in the arena, the strings themselves in the payload. */
must_use struct error *capture_symbols_begin(
	struct capture_symbols_decoder *d, struct cursor *payload, struct arena *arena);
/* False at the end and at a bad row (then cursor_error(&d->rows) tells). */
bool capture_symbols_next(struct capture_symbols_decoder *d, struct capture_symbol *symbol);
/* To be called symbol->count times after capture_symbols_next. */
void capture_symbols_frame(struct capture_symbols_decoder *d, struct capture_symbol_frame *frame);

#endif
