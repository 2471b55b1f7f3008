/*
 * Rewrites a finished capture file.  It is read piece by piece and written to a new file in the
 * same folder, which is then renamed over it.  Only the tables of distinct frames and nodes grow
 * with the file.  Whatever fails, the file stays as it was.
 */
#include "record/file/capture_compact.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "formats/sonde/layout/capture_batch.h"

enum {
	COMPACT_LEVEL = 5,
	/*
	 * Smaller files have little to gain; larger ones take too long at the end of a recording.
	 */
	COMPACT_SIZE_MIN = 8 << 10,
	COMPACT_SIZE_MAX = 64 << 20,
	PIECE_SIZE = 1 << 20,
};

struct compactor {
	struct capture_output *in, out;
	struct capture_batch batch;
	struct capture_unpacker *unpacker;
	struct capture_scan scan;
	struct capture_stacks stacks;
	/* By their ids in the old file; a frame's handle in the encoder, once used. */
	VEC(struct capture_frame) frames;
	VEC(uint32_t) handles;
	const uint8_t *fates; /* [fate_count] enum capture_fate, by node; NULL: all are kept */
	size_t fate_count;
	VEC(uint32_t) nodes; /* new numbers; 0: removed */
	uint32_t nodes_kept;
	uint8_t *piece;
	size_t piece_capacity;
	struct strbuf end; /* the end mark's payload */
	bool ended;
};

static uint32_t frame_handle(struct compactor *c, uint32_t frame)
{
	uint32_t *handle = &c->handles.data[frame];

	if (*handle == UINT32_MAX)
		*handle = capture_stacks_frame(c->batch.stacks, c->frames.data[frame]);
	return *handle;
}

static enum capture_fate fate_of(const struct compactor *c, uint32_t node)
{
	if (c->fates == NULL)
		return CAPTURE_KEEPS;
	return node < c->fate_count ? (enum capture_fate)c->fates[node] : CAPTURE_DROPS;
}

static bool compact_node(struct compactor *c, struct capture_node n)
{
	uint32_t node = (uint32_t)c->nodes.count;
	bool stays = fate_of(c, node) != CAPTURE_DROPS;

	if (n.frame >= c->frames.count || n.parent >= node)
		return false;
	vec_push(&c->nodes, stays ? ++c->nodes_kept : 0);
	if (stays)
		capture_stacks_node(c->batch.stacks, c->nodes_kept, c->nodes.data[n.parent],
			frame_handle(c, n.frame));
	return true;
}

static bool compact_stacks(struct compactor *c, struct cursor *payload)
{
	struct error *err = capture_stacks_decode(payload, &c->stacks);

	if (err || c->stacks.first_frame != c->frames.count ||
		(c->stacks.nodes.count > 0 && c->stacks.first_node != c->nodes.count)) {
		error_destroy(err);
		return false;
	}
	for (size_t i = 0; i < c->stacks.frames.count; i++) {
		vec_push(&c->frames, c->stacks.frames.data[i]);
		vec_push(&c->handles, UINT32_MAX);
	}
	for (uint32_t i = 0; i < c->stacks.nodes.count; i++)
		if (!compact_node(c, c->stacks.nodes.data[i]))
			return false;
	return true;
}

/* The node's new number; 0: not kept. */
static uint32_t kept_node(const struct compactor *c, uint32_t node)
{
	bool is_kept = fate_of(c, node) == CAPTURE_KEEPS && node < c->nodes.count;

	return is_kept ? c->nodes.data[node] : 0;
}

static bool compact_samples(
	struct compactor *c, struct cursor *payload, struct capture_samples_encoder *to)
{
	struct capture_samples_decoder d;
	struct capture_sample sample;
	struct error *err = capture_samples_begin(&d, payload);

	if (err == NULL) {
		while (capture_samples_next(&d, &sample)) {
			sample.node = kept_node(c, sample.node);
			sample.zone = kept_node(c, sample.zone);
			capture_samples_add(to, &sample, d.metric_count);
		}
		err = capture_samples_error(&d);
	}
	error_destroy(err);
	return err == NULL;
}

static struct str rest(const struct cursor *payload)
{
	return (struct str){(const char *)payload->at, cursor_left(payload)};
}

static bool compact_payload(struct compactor *c, uint8_t type, struct cursor *payload)
{
	if (capture_chunk_has_rows(type)) {
		strbuf_add(&c->batch.rows[type], rest(payload));
		return true;
	}
	if (type == CAPTURE_CHUNK_STACKS)
		return compact_stacks(c, payload);
	if (type == CAPTURE_CHUNK_SAMPLES)
		return compact_samples(c, payload, c->batch.samples);
	if (type == CAPTURE_CHUNK_ZONE_ROWS)
		return compact_samples(c, payload, c->batch.zone_rows);
	if (type == CAPTURE_CHUNK_ZONE_EVENTS)
		return compact_samples(c, payload, c->batch.zone_events);
	if (type == CAPTURE_CHUNK_SYMBOLS)
		return capture_batch_write(&c->batch) &&
		       capture_batch_write_chunk(&c->batch, CAPTURE_CHUNK_SYMBOLS, rest(payload));
	if (type != CAPTURE_CHUNK_END)
		return false;
	strbuf_add(&c->end, rest(payload));
	c->ended = true;
	return true;
}

static bool compact_chunk(struct compactor *c, const struct capture_chunk *chunk)
{
	struct cursor payload;
	struct error *err = capture_unpack(c->unpacker, chunk, c->in->path, &payload);

	error_destroy(err);
	if (err || !compact_payload(c, chunk->type, &payload))
		return false;
	return !capture_batch_is_full(&c->batch) || capture_batch_write(&c->batch);
}

/* Moves the unscanned part of the piece to its start, and reads more. */
static bool piece_refill(struct compactor *c)
{
	struct capture_scan *s = &c->scan;
	size_t kept = s->size - s->at;

	if (kept == c->piece_capacity) {
		c->piece_capacity *= 2;
		c->piece = xrealloc_array(c->piece, c->piece_capacity, 1);
	}
	memmove(c->piece, c->piece + s->at, kept);
	s->base += s->at;
	s->at = 0;
	ssize_t got = pread(
		c->in->fd, c->piece + kept, c->piece_capacity - kept, (off_t)(s->base + kept));
	s->data = c->piece;
	s->size = kept + (got > 0 ? (size_t)got : 0);
	return got > 0;
}

/* Rewrites all complete chunks in the piece. */
static bool compact_piece(struct compactor *c)
{
	struct capture_chunk chunk;
	struct capture_scan before = c->scan;

	while (capture_scan_next(&c->scan, &chunk)) {
		if (!compact_chunk(c, &chunk))
			return false;
		before = c->scan;
	}
	if (c->scan.damaged_places || c->scan.missing_chunks)
		return false;
	c->scan = before; /* an incomplete chunk is scanned again after the refill */
	return true;
}

static bool compact_contents(struct compactor *c)
{
	capture_batch_write_file_header(&c->batch);
	c->scan.base = CAPTURE_FILE_HEADER_SIZE;
	while (piece_refill(c))
		if (!compact_piece(c))
			return false;
	if (c->scan.at != c->scan.size || !c->ended)
		return false;
	return capture_batch_write(&c->batch) &&
	       capture_batch_write_chunk(&c->batch, CAPTURE_CHUNK_END, strbuf_str(&c->end));
}

bool capture_can_compact(const struct capture_output *o)
{
	struct statvfs fs;

	if (!capture_output_is_in_place(o) || o->size > COMPACT_SIZE_MAX)
		return false;
	return fstatvfs(o->fd, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize > 2 * o->size;
}

/* Renames the new file over the old one after its bytes are on the disk. */
static bool replace(struct capture_output *in, struct capture_output *out)
{
	if (fdatasync(out->fd) < 0 || !capture_output_is_in_place(in))
		return false;
	return rename(out->path, in->path) == 0;
}

static void compactor_deinit(struct compactor *c)
{
	capture_batch_deinit(&c->batch);
	capture_unpacker_destroy(c->unpacker);
	capture_stacks_deinit(&c->stacks);
	vec_deinit(&c->frames);
	vec_deinit(&c->handles);
	vec_deinit(&c->nodes);
	strbuf_deinit(&c->end);
	free(c->piece);
}

/* fates: as in struct compactor.  If NULL, only replaces the file by a smaller one. */
static bool rewrite(struct capture_output *o, const uint8_t *fates, size_t fate_count)
{
	struct compactor c = {.in = o, .fates = fates, .fate_count = fate_count};
	char *path = xasprintf("%s.XXXXXX", o->path);
	bool done = false;

	c.out = (struct capture_output){
		.fd = mkostemp(path, O_CLOEXEC), .path = path, .is_regular = true};
	if (c.out.fd >= 0) {
		capture_batch_init(&c.batch, COMPACT_LEVEL, capture_output_put, &c.out);
		c.unpacker = capture_unpacker_create();
		c.piece_capacity = PIECE_SIZE;
		c.piece = xrealloc_array(NULL, PIECE_SIZE, 1);
		vec_push(&c.nodes, 0);
		done = compact_contents(&c) && (fates || c.out.size < o->size) &&
		       replace(o, &c.out);
		if (done)
			o->size = c.out.size;
		else
			(void)unlink(path);
		compactor_deinit(&c);
	}
	capture_output_deinit(&c.out);
	return done;
}

void capture_compact(struct capture_output *o, const uint8_t *fates, size_t count)
{
	if (capture_can_compact(o) && (fates || o->size >= COMPACT_SIZE_MIN))
		(void)rewrite(o, fates, count);
}

struct error *capture_select(
	const char *path, const uint8_t *fates, size_t count, uint64_t *size_bytes)
{
	struct capture_output o = {.fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)};
	struct stat st;
	struct error *err = NULL;

	if (o.fd < 0 || fstat(o.fd, &st) < 0) {
		err = error_system(errno, "%s", path);
	} else {
		o.path = xstrdup(path);
		o.is_regular = S_ISREG(st.st_mode);
		o.device = st.st_dev;
		o.inode = st.st_ino;
		o.size = (uint64_t)st.st_size;
		if (!rewrite(&o, fates, count))
			err = error_new(ERROR_INPUT, "%s could not be rewritten", path);
		else
			*size_bytes = o.size;
	}
	capture_output_deinit(&o);
	return err;
}
