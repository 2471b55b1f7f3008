/*
 * STACKS chunks: while the stacks of some are added to the tree, the next ones are decompressed and
 * decoded, each by one thread, as a chunk can be decoded on its own.  Only small chunks, which are
 * what sonde writes, are decoded ahead: a hostile file's must not be in memory at the same time.
 */
#include "formats/sonde/stacks_ahead.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/jobs.h"

/* Chunks decoded while as many others are added: one for each thread, at most these. */
#define AHEAD 8
/* Size of a small chunk, decompressed. */
#define SMALL_MAX ((size_t)1 << 20)

struct decoded {
	const struct capture_chunk *chunk;
	struct capture_unpacker *unpacker; /* NULL: not used so far */
	struct capture_stacks stacks;
	bool is_bad;
};

/* Chunks that follow each other: small ones, or a single one. */
struct window {
	struct decoded chunks[AHEAD];
	size_t count;
};

struct stacks_ahead {
	struct capture_tree *tree;
	const struct capture_chunk *next, *end;
	struct window *adding, *decoding;
	uint64_t bad, first_bad;
};

static bool is_small(const struct capture_chunk *chunk)
{
	return chunk->raw_size <= SMALL_MAX;
}

/* Takes the next chunks, at most `most`. */
static void window_take(struct window *w, struct stacks_ahead *s, size_t most)
{
	for (w->count = 0; w->count < most && s->next < s->end; s->next++) {
		if (s->next->type != CAPTURE_CHUNK_STACKS)
			continue;
		if (w->count && !is_small(s->next))
			return;
		w->chunks[w->count++].chunk = s->next;
		if (!is_small(s->next))
			most = 1;
	}
}

static void decode(struct decoded *d)
{
	struct cursor payload;
	struct error *err;

	if (d->unpacker == NULL)
		d->unpacker = capture_unpacker_create();
	err = capture_unpack(d->unpacker, d->chunk, "", &payload);
	if (err == NULL)
		err = capture_stacks_decode(&payload, &d->stacks);
	d->is_bad = err != NULL;
	error_destroy(err);
}

static void add(struct stacks_ahead *s, struct decoded *d)
{
	if (d->is_bad || !capture_tree_add(s->tree, &d->stacks))
		if (s->bad++ == 0)
			s->first_bad = d->chunk->offset;
	if (!is_small(d->chunk))
		capture_stacks_deinit(&d->stacks);
}

/* Part 0 adds one window's chunks, each other part decodes one of the next window. */
static void do_part(void *context, size_t part)
{
	struct stacks_ahead *s = context;

	if (part > 0)
		decode(&s->decoding->chunks[part - 1]);
	for (size_t i = 0; part == 0 && i < s->adding->count; i++)
		add(s, &s->adding->chunks[i]);
}

static void window_destroy(struct window *w)
{
	for (size_t i = 0; i < AHEAD; i++) {
		capture_unpacker_destroy(w->chunks[i].unpacker);
		capture_stacks_deinit(&w->chunks[i].stacks);
	}
	free(w);
}

uint64_t stacks_ahead_read(struct capture_tree *tree, const struct capture_chunk *chunks,
	size_t count, size_t threads, uint64_t *first_bad)
{
	struct stacks_ahead s = {.tree = tree,
		.next = chunks,
		.end = chunks + count,
		.adding = xcalloc(1, sizeof(*s.adding)),
		.decoding = xcalloc(1, sizeof(*s.decoding))};

	do {
		struct window *decoding = s.decoding;
		size_t at_once = threads ? threads : 1;

		window_take(decoding, &s, at_once < AHEAD ? at_once : AHEAD);
		/* The part that adds ends, and frees, before a large chunk is decoded. */
		if (decoding->count && !is_small(decoding->chunks[0].chunk))
			at_once = 1;
		jobs_run(at_once, 1 + decoding->count, do_part, &s);
		s.decoding = s.adding;
		s.adding = decoding;
	} while (s.adding->count);
	window_destroy(s.adding);
	window_destroy(s.decoding);
	*first_bad = s.first_bad;
	return s.bad;
}
