/* Data that waits to become chunks.  See capture_batch.h. */
#include "formats/sonde/layout/capture_batch.h"

/*
 * Limits for waiting items: their maximum size (28 bytes per node, 201 per sample) stays below
 * CAPTURE_RAW_MAX.
 */
enum {
	NODES_MAX = 1 << 18,
	SAMPLES_MAX = 1 << 16,
	ROW_BYTES_MAX = 1 << 20,
	SYMBOL_BYTES_MAX = 1 << 20,
};

void capture_batch_init(struct capture_batch *b, int zstd_level, capture_put_fn *put, void *context)
{
	*b = (struct capture_batch){
		.put = put,
		.context = context,
		.stacks = capture_stacks_encoder_create(),
		.samples = capture_samples_encoder_create(),
		.symbols = capture_symbols_encoder_create(),
		.zone_rows = capture_samples_encoder_create(),
		.zone_events = capture_samples_encoder_create(),
		.packer = capture_packer_create(zstd_level),
	};
	capture_samples_set_unit(b->zone_rows, 1);
	capture_samples_set_unit(b->zone_events, 1);
}

void capture_batch_deinit(struct capture_batch *b)
{
	for (int type = 0; type < CAPTURE_CHUNK_TYPE_COUNT; type++)
		strbuf_deinit(&b->rows[type]);
	capture_stacks_encoder_destroy(b->stacks);
	capture_samples_encoder_destroy(b->samples);
	capture_samples_encoder_destroy(b->zone_rows);
	capture_samples_encoder_destroy(b->zone_events);
	capture_symbols_encoder_destroy(b->symbols);
	capture_packer_destroy(b->packer);
	strbuf_deinit(&b->raw);
	strbuf_deinit(&b->chunk);
}

static size_t largest_rows(const struct capture_batch *b)
{
	size_t size = 0;

	for (int type = 0; type < CAPTURE_CHUNK_TYPE_COUNT; type++)
		if (b->rows[type].size > size)
			size = b->rows[type].size;
	return size;
}

static size_t most_samples(const struct capture_batch *b)
{
	const struct capture_samples_encoder *encoders[] = {
		b->samples, b->zone_rows, b->zone_events};
	size_t most = 0;

	for (size_t i = 0; i < ARRAY_SIZE(encoders); i++)
		if (capture_samples_waiting(encoders[i]) > most)
			most = capture_samples_waiting(encoders[i]);
	return most;
}

bool capture_batch_is_empty(const struct capture_batch *b)
{
	return capture_stacks_waiting(b->stacks) == 0 && most_samples(b) == 0 &&
	       capture_symbols_waiting(b->symbols) == 0 && largest_rows(b) == 0;
}

bool capture_batch_is_full(const struct capture_batch *b)
{
	return capture_stacks_waiting(b->stacks) >= NODES_MAX || most_samples(b) >= SAMPLES_MAX ||
	       capture_symbols_waiting(b->symbols) >= SYMBOL_BYTES_MAX ||
	       largest_rows(b) >= ROW_BYTES_MAX;
}

void capture_batch_write_file_header(struct capture_batch *b)
{
	strbuf_clear(&b->chunk);
	capture_pack_file_header(b->packer, &b->chunk);
	(void)b->put(b->context, strbuf_str(&b->chunk));
}

bool capture_batch_write_chunk(
	struct capture_batch *b, enum capture_chunk_type type, struct str raw)
{
	strbuf_clear(&b->chunk);
	capture_pack_chunk(b->packer, type, raw, &b->chunk);
	return b->put(b->context, strbuf_str(&b->chunk));
}

static bool write_samples(struct capture_batch *b, struct capture_samples_encoder *samples,
	enum capture_chunk_type type)
{
	if (capture_samples_waiting(samples) == 0)
		return true;
	strbuf_clear(&b->raw);
	capture_samples_encode(samples, &b->raw);
	return capture_batch_write_chunk(b, type, strbuf_str(&b->raw));
}

bool capture_batch_write(struct capture_batch *b)
{
	bool ok = true;

	for (int type = 0; type < CAPTURE_CHUNK_TYPE_COUNT; type++) {
		if (b->rows[type].size == 0)
			continue;
		ok &= capture_batch_write_chunk(
			b, (enum capture_chunk_type)type, strbuf_str(&b->rows[type]));
		strbuf_clear(&b->rows[type]);
	}
	strbuf_clear(&b->raw);
	if (capture_stacks_waiting(b->stacks)) {
		capture_stacks_encode(b->stacks, &b->raw);
		ok &= capture_batch_write_chunk(b, CAPTURE_CHUNK_STACKS, strbuf_str(&b->raw));
	}
	ok &= write_samples(b, b->samples, CAPTURE_CHUNK_SAMPLES);
	ok &= write_samples(b, b->zone_rows, CAPTURE_CHUNK_ZONE_ROWS);
	ok &= write_samples(b, b->zone_events, CAPTURE_CHUNK_ZONE_EVENTS);
	strbuf_clear(&b->raw);
	if (capture_symbols_waiting(b->symbols)) {
		capture_symbols_encode(b->symbols, &b->raw);
		ok &= capture_batch_write_chunk(b, CAPTURE_CHUNK_SYMBOLS, strbuf_str(&b->raw));
	}
	return ok;
}
