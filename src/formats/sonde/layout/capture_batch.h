#ifndef SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_BATCH_H
#define SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_BATCH_H

/*
 * Collects data until it becomes chunks of a capture file.  The recorder writes its batch every 100
 * ms; rewriting a finished file, and writing a profile, write a batch when it is full.
 */

#include "formats/sonde/layout/capture_chunk.h"
#include "formats/sonde/layout/capture_rows.h"
#include "formats/sonde/layout/capture_samples.h"
#include "formats/sonde/layout/capture_stacks.h"
#include "formats/sonde/layout/capture_symbols.h"

/* Writes one complete chunk per call.  False: writing failed, so stop. */
typedef bool capture_put_fn(void *context, struct str chunk);

struct capture_batch {
	capture_put_fn *put;
	void *context;
	struct strbuf rows[CAPTURE_CHUNK_TYPE_COUNT]; /* [CAPTURE_CHUNK_TYPE_COUNT]: for types with
						   capture_chunk_has_rows */
	struct capture_stacks_encoder *stacks;
	struct capture_samples_encoder *samples;
	struct capture_samples_encoder *zone_rows, *zone_events; /* times in ns */
	struct capture_symbols_encoder *symbols;
	struct capture_packer *packer;
	struct strbuf raw, chunk; /* scratch */
};

void capture_batch_init(
	struct capture_batch *b, int zstd_level, capture_put_fn *put, void *context);
void capture_batch_deinit(struct capture_batch *b);

bool capture_batch_is_empty(const struct capture_batch *b);
/* Whether the batch must be written before adding more. */
bool capture_batch_is_full(const struct capture_batch *b);
void capture_batch_write_file_header(struct capture_batch *b);
/* Writes and empties the batch, definitions first.  False if a chunk could not be written. */
bool capture_batch_write(struct capture_batch *b);
/* Writes one chunk immediately. */
bool capture_batch_write_chunk(
	struct capture_batch *b, enum capture_chunk_type type, struct str raw);

#endif
