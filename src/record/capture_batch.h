#ifndef SONDE_RECORD_CAPTURE_BATCH_H
#define SONDE_RECORD_CAPTURE_BATCH_H

/*
 * What waits to become chunks of a capture file.  The writer has one, written out every 100 ms, and
 * rewriting a finished file has one, written out when it is full.
 */

#include "format/capture_chunk.h"
#include "format/capture_rows.h"
#include "format/capture_samples.h"
#include "format/capture_stacks.h"
#include "format/capture_symbols.h"
#include "record/capture_output.h"

/* Chunk types made of rows: from CAPTURE_CHUNK_FACTS to this. */
#define CAPTURE_ROW_TYPE_LAST CAPTURE_CHUNK_COUNTERS

struct capture_batch {
	struct strbuf rows[CAPTURE_ROW_TYPE_LAST + 1];
	struct capture_stacks_encoder *stacks;
	struct capture_samples_encoder *samples;
	struct capture_symbols_encoder *symbols;
	struct capture_packer *packer;
	struct strbuf raw, chunk; /* scratch */
};

void capture_batch_init(struct capture_batch *b, int zstd_level);
void capture_batch_deinit(struct capture_batch *b);

bool capture_batch_is_empty(const struct capture_batch *b);
/* Whether so much waits that it has to be written before more is added. */
bool capture_batch_is_full(const struct capture_batch *b);
void capture_batch_write_file_header(struct capture_batch *b, struct capture_output *o);
/* Writes what waits, definitions first, and is empty then.  False if the output has failed. */
bool capture_batch_write(struct capture_batch *b, struct capture_output *o);
/* Writes one chunk right away. */
bool capture_batch_write_chunk(struct capture_batch *b, struct capture_output *o,
	enum capture_chunk_type type, struct str raw);

#endif
