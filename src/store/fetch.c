/*
 * Reads profiles from ClickHouse servers as one.
 *
 * Each shard sums the weights of each stack.  Here, a builder adds up the sums of all shards, as
 * for files that are merged.  All shards are asked at the same time: first which profiles there
 * are, then for their stacks and frames.
 */
#include "store/fetch.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/wire.h"
#include "model/builder.h"
#include "model/common_notes.h"
#include "store/identity.h"
#include "store/select.h"
#include "store/spread.h"

#define NO_MODULE UINT8_MAX

enum {
	/* The fewest bytes that an element of an array takes. */
	STRING_BYTES = 1,
	NUMBER_BYTES = 8,
	TIME_BYTES = 4,
	SHOWN_MAX = 3,
};

struct fetch;

/* A statement for a shard, and the function that reads the answer. */
struct statement {
	struct clickhouse_statement asked; /* the first member */
	struct strbuf sql;
	struct error *(*read)(struct fetch *f, struct cursor *c);
	bool has_answer;
};

/* A profile that was recorded as one. */
struct source {
	uint32_t parts, seen; /* its profiles: how many there are, and how many were found */
	size_t shard;	      /* where the first was found */
	bool is_twice;	      /* another shard has some, too */
	struct profile_stats stats;
};

/* The batches of a service in an hour: their number, and the XOR of their ids. */
struct hour_batches {
	uint64_t batches, batch_sum;
};

/* The frames of a function at an address, from the outermost: several if calls were inlined. */
struct chain {
	uint32_t first, count; /* in fetch.chain_frames; count 0: not in the store */
	uint32_t version;
	bool is_missing; /* not in the store, and counted as missing */
};

/* The outer frames of deep stacks. */
struct piece {
	uint64_t outer_hash;
	const uint8_t *frames; /* in the answer, little-endian */
	uint64_t count;
	stack_id stack; /* if is_known */
	bool is_known, is_under_way;
};

/* A stack that a shard has sent. */
struct known_stack {
	stack_id stack;
	uint32_t next_shard; /* shards before this one may have sent its weight already */
	bool is_missing;     /* only its weight came */
};

/* The path that was built last: frames on top of a stack. */
struct last_path {
	stack_id parent;
	const uint8_t *frames; /* in the answer or a piece */
	uint64_t count;
};

struct fetch {
	struct clickhouse *clickhouse;
	const struct store_query *query;
	const struct fit *fit; /* only what it has chosen; NULL: everything */
	struct fit *seen;      /* what the commits are; is_mixed: they cannot be added up */
	bool is_patient;       /* asks for frames only after it has the stacks */
	struct builder *builder;
	struct arena *arena;
	VEC(struct statement) statements; /* in the order in which answers are read */
	size_t next_read;
	/* Metrics, in the order of first sight. */
	struct str_table metrics;
	VEC(struct str) units;
	struct str default_metric;
	VEC(struct source) sources;
	struct map source_index; /* by id and service */
	struct map noted;	 /* ids of sources whose notes were added */
	struct common_notes notes;
	struct str_table services, hosts, commands, formats, patterns;
	uint64_t first_s;      /* the earliest interval */
	struct map seconds_of; /* the length of an interval, by when it begins: the longest */
	uint64_t spread;       /* samples that stand for parts of a weight */
	uint64_t commits;
	size_t shard;	       /* whose answer is read */
	struct map hour_index; /* by shard, and by service and hour */
	VEC(struct hour_batches) hours;
	struct select_hours *summed; /* [shard] hours that are read as sums */
	struct map chain_index;	     /* by frame_id */
	VEC(struct chain) chains;
	VEC(frame_id) chain_frames;
	struct map piece_index; /* by hash */
	VEC(struct piece) pieces;
	struct map stack_index; /* by hash */
	VEC(struct known_stack) stacks;
	uint64_t missing_stacks, missing_frames;
	VEC(frame_id) path;
	/* Of `last`: a stack for each frame of the chains, and where each chain ends among them. */
	struct last_path last;
	VEC(stack_id) path_stacks;
	VEC(size_t) path_ends;
	int64_t *weight;       /* [metric] */
	struct cursor *values; /* [metric] a row's array, if weights are kept apart */
	/* [metric] the sum that commits promise, and the sum that came. */
	VEC(uint64_t) promised;
	uint64_t *came;
	frame_id unknown;
	bool has_unknown;
	VEC(char *) silent; /* the errors of shards that did not answer */
	bool *is_silent;    /* [shard] */
	struct error *err;
};

/* ---- asking ---- */

/*
 * A shard that does not answer is left out from then on, and its error is noted.  If one refuses a
 * statement, the fetch fails.
 */
static void leave_out(struct fetch *f, size_t shard, struct clickhouse_answer *answer)
{
	if (answer->is_refusal && f->err == NULL) {
		f->err = answer->err;
		answer->err = NULL;
	} else if (!f->is_silent[shard]) {
		vec_push(&f->silent, xstrdup(answer->err->message));
		f->is_silent[shard] = true;
	}
}

static void read_answer(struct fetch *f, struct statement *q)
{
	struct clickhouse_answer *answer = &q->asked.answer;
	struct cursor c;

	if (answer->err)
		leave_out(f, q->asked.shard, answer);
	f->shard = q->asked.shard;
	if (!f->is_silent[f->shard] && f->err == NULL) {
		cursor_init(&c, answer->bytes.data, answer->bytes.size,
			clickhouse_shard_name(f->clickhouse, f->shard), 0);
		f->err = q->read(f, &c);
		if (f->err == NULL)
			f->err = cursor_error(&c);
	}
	error_destroy(answer->err);
	strbuf_deinit(&answer->bytes);
}

/*
 * Reads answers in the order of the statements, so that equal stores give equal profiles, but as
 * early as that allows, while servers work on others.
 */
static void take_answer(struct clickhouse_statement *asked)
{
	struct fetch *f = asked->context;

	((struct statement *)asked)->has_answer = true;
	while (f->next_read < f->statements.count && f->statements.data[f->next_read].has_answer)
		read_answer(f, &f->statements.data[f->next_read++]);
}

/* Adds a statement.  Returns where to write its SQL, before the next one is added. */
static struct strbuf *add_statement(
	struct fetch *f, size_t shard, struct error *(*read)(struct fetch *f, struct cursor *c))
{
	vec_push(&f->statements,
		(struct statement){
			.asked = {.shard = shard, .done = take_answer, .context = f},
			.read = read,
		});
	return &f->statements.data[f->statements.count - 1].sql;
}

/* Sends some of the statements at once, and waits for the answers. */
static void ask(struct fetch *f, size_t first, size_t count)
{
	struct clickhouse_statement **asked = xcalloc(count, sizeof(*asked));

	for (size_t i = 0; i < count; i++) {
		struct statement *q = &f->statements.data[first + i];

		q->asked.sql = strbuf_str(&q->sql);
		asked[i] = &q->asked;
	}
	clickhouse_ask_all(f->clickhouse, asked, count);
	free(asked);
}

static void forget_statements(struct fetch *f)
{
	for (size_t i = 0; i < f->statements.count; i++)
		strbuf_deinit(&f->statements.data[i].sql);
	f->statements.count = 0;
	f->next_read = 0;
}

/* ---- what there is ---- */

static void take_metric(struct fetch *f, struct str name, struct str unit, int64_t total)
{
	uint32_t index = str_table_intern(&f->metrics, name);

	if (index == f->units.count)
		vec_push(&f->units, arena_str(f->arena, unit));
	vec_extend(&f->promised, f->units.count);
	f->promised.data[index] += (uint64_t)total;
}

/* Skips an array of strings; returns its bytes for later.  *count: of strings. */
static struct cursor take_strings(struct cursor *c, uint64_t *count)
{
	const uint8_t *begin;
	struct cursor strings;

	*count = wire_count(c, STRING_BYTES);
	begin = c->at;
	for (uint64_t i = 0; i < *count; i++)
		(void)wire_str(c);
	cursor_init(&strings, begin, (size_t)(c->at - begin), c->name, cursor_offset(c));
	return strings;
}

/* *is_new: none of its profiles was found before. */
static struct source *take_source(
	struct fetch *f, uint64_t id, struct str service, uint32_t parts, bool *is_new)
{
	bool added;
	uint32_t *index = map_at(&f->source_index, id, str_table_intern(&f->services, service),
		(uint32_t)f->sources.count, &added);

	if (added) {
		struct source s = {.parts = parts, .shard = f->shard};

		memset(&s.stats, 0xff, sizeof(s.stats));
		vec_push(&f->sources, s);
	}
	struct source *source = &f->sources.data[*index];

	*is_new = added;
	source->is_twice |= source->shard != f->shard;
	return source;
}

static void take_stats(struct source *source, struct cursor *c)
{
	uint64_t count, values;
	struct cursor names = take_strings(c, &count);

	values = wire_count(c, NUMBER_BYTES);
	for (uint64_t i = 0; i < values; i++) {
		struct str name = i < count ? wire_str(&names) : STR("");
		uint64_t value = cursor_u64(c);

		for (const struct stat_field *s = stat_fields; s->name; s++) {
			if (str_equal(name, str_from(s->name)))
				*(uint64_t *)((char *)&source->stats + s->offset) = value;
		}
	}
}

static enum note_kind note_kind_of(struct str name)
{
	for (size_t i = 0; note_kind_names[i]; i++) {
		if (str_equal(name, str_from(note_kind_names[i])))
			return (enum note_kind)i;
	}
	return NOTE_INFO;
}

/* Each commit of a source, whatever its service, has all of the source's notes. */
static void take_notes(struct fetch *f, uint64_t source_id, struct cursor *c)
{
	uint64_t kind_count, count, text_count;
	struct cursor kinds = take_strings(c, &kind_count), counts, texts;
	bool is_new;

	(void)map_at(&f->noted, source_id, 0, 0, &is_new);
	count = wire_count(c, NUMBER_BYTES);
	counts = cursor_sub(c, count * NUMBER_BYTES);
	texts = take_strings(c, &text_count);
	for (uint64_t i = 0; is_new && i < kind_count && i < count && i < text_count; i++) {
		struct str kind = wire_str(&kinds), text = wire_str(&texts);

		common_notes_add(&f->notes, note_kind_of(kind), cursor_u64(&counts), text);
	}
}

/* Counts a commit for its hour in this shard. */
static void count_batch(struct fetch *f, struct str service, uint64_t time_s, uint64_t batch)
{
	uint32_t number = str_table_intern(&f->services, service);
	bool added;
	uint32_t *index = map_at(&f->hour_index, f->shard,
		(uint64_t)number << 32 | time_s / STORE_HOUR, (uint32_t)f->hours.count, &added);

	if (added)
		vec_push(&f->hours, (struct hour_batches){0, 0});
	f->hours.data[*index].batches++;
	f->hours.data[*index].batch_sum ^= batch;
}

/* Keeps the hours whose sums include exactly the batches that were committed. */
static struct error *read_hour_commits(struct fetch *f, struct cursor *c)
{
	while (cursor_ok(c) && !cursor_at_end(c)) {
		struct select_hour hour = {.service = wire_str(c)};
		uint32_t number, index;

		hour.hour = cursor_u64(c);
		hour.built = cursor_u64(c);
		uint64_t batches = cursor_u64(c), batch_sum = cursor_u64(c);
		if (!cursor_ok(c))
			break;
		if (!str_table_find(&f->services, hour.service, &number) ||
			!map_get(&f->hour_index, f->shard, (uint64_t)number << 32 | hour.hour,
				&index) ||
			f->hours.data[index].batches != batches ||
			f->hours.data[index].batch_sum != batch_sum)
			continue;
		hour.service = f->services.strings[number];
		vec_push(&f->summed[f->shard].list, hour);
	}
	return NULL;
}

static void take_length(struct fetch *f, uint32_t time_s, uint32_t seconds)
{
	bool added;
	uint32_t *longest = map_at(&f->seconds_of, time_s, 0, seconds, &added);

	if (*longest < seconds)
		*longest = seconds;
}

static struct error *read_commits(struct fetch *f, struct cursor *c)
{
	VEC(struct str) metric_names = {0}, metric_units = {0};

	while (cursor_ok(c) && !cursor_at_end(c)) {
		uint64_t count, unit_count;
		bool is_new;
		struct str service = wire_str(c);
		uint32_t time_s = cursor_u32(c);

		count_batch(f, service, time_s, cursor_u64(c));
		take_length(f, time_s, cursor_u32(c));
		struct str host = wire_str(c);
		str_table_intern(&f->hosts, host);
		uint64_t id = cursor_u64(c);
		uint32_t parts = cursor_u32(c);
		str_table_intern(&f->commands, wire_str(c));
		str_table_intern(&f->formats, wire_str(c));
		struct str when = wire_str(c);
		str_table_intern(&f->patterns, when);
		struct str default_metric = wire_str(c);
		struct cursor names = take_strings(c, &count), units = take_strings(c, &unit_count);
		uint64_t total_count = wire_count(c, NUMBER_BYTES);
		struct cursor totals = cursor_sub(c, total_count * NUMBER_BYTES);
		if (!cursor_ok(c))
			break;
		metric_names.count = metric_units.count = 0;
		for (uint64_t i = 0; i < count; i++) {
			vec_push(&metric_names, wire_str(&names));
			vec_push(&metric_units, i < unit_count ? wire_str(&units) : STR(""));
			take_metric(f, metric_names.data[i], metric_units.data[i],
				i < total_count ? (int64_t)cursor_u64(&totals) : 0);
		}
		if (f->default_metric.size == 0)
			f->default_metric = arena_str(f->arena, default_metric);
		if (f->commits++ == 0 || time_s < f->first_s)
			f->first_s = time_s;
		struct source *source = take_source(f, id, service, parts, &is_new);
		source->seen++;
		const struct fit_shape shape = {.when = when,
			.has_stacks = true,
			.is_change = fit_is_change(metric_names.data, count),
			.names = metric_names.data,
			.units = metric_units.data,
			.metric_count = count};
		fit_add(f->seen, &shape, service, host, is_new);
		take_stats(source, c);
		take_notes(f, id, c);
	}
	vec_deinit(&metric_names);
	vec_deinit(&metric_units);
	return NULL;
}

/* ---- frames ---- */

struct frame_row {
	uint64_t id;
	uint32_t version;
	uint8_t depth, kind, is_inline;
	struct str module, build_id, function, aliases, defined_in, file;
	uint64_t address;
	uint32_t defined_at, line;
};

static struct frame_row read_frame(struct cursor *c)
{
	struct frame_row r;

	r.id = cursor_u64(c);
	r.depth = cursor_u8(c);
	r.version = cursor_u32(c);
	r.kind = cursor_u8(c);
	r.module = wire_str(c);
	r.build_id = wire_str(c);
	r.address = cursor_u64(c);
	r.function = wire_str(c);
	r.aliases = wire_str(c);
	r.defined_in = wire_str(c);
	r.defined_at = cursor_u32(c);
	r.file = wire_str(c);
	r.line = cursor_u32(c);
	r.is_inline = cursor_u8(c);
	return r;
}

static frame_id build_frame(struct fetch *f, const struct frame_row *r)
{
	struct builder *b = f->builder;
	object_id object = {NO_ID};

	if (r->kind < OBJECT_KIND_COUNT)
		object = builder_object(b, r->module, r->build_id, (enum object_kind)r->kind);
	function_id function = builder_function_called(b, builder_string(b, r->function),
		r->aliases, object, builder_string(b, r->defined_in), r->defined_at);

	return builder_frame(
		b, function, builder_string(b, r->file), r->line, r->is_inline != 0, r->address);
}

/* Rows are sorted by frame and depth; the newest version counts. */
static struct error *read_frames(struct fetch *f, struct cursor *c)
{
	while (cursor_ok(c) && !cursor_at_end(c)) {
		struct frame_row r = read_frame(c);
		bool added;

		if (!cursor_ok(c))
			break;
		uint32_t *index =
			map_at(&f->chain_index, r.id, 0, (uint32_t)f->chains.count, &added);
		if (added)
			vec_push(&f->chains,
				(struct chain){.first = (uint32_t)f->chain_frames.count});
		struct chain *chain = &f->chains.data[*index];
		if (chain->count && r.version < chain->version)
			continue;
		/* An earlier shard may have sent the whole chain. */
		if (r.depth == 0 && (r.version > chain->version || chain->count == 0))
			*chain = (struct chain){
				.first = (uint32_t)f->chain_frames.count, .version = r.version};
		if (r.version != chain->version || r.depth != chain->count ||
			chain->first + chain->count != f->chain_frames.count)
			continue;
		vec_push(&f->chain_frames, build_frame(f, &r));
		chain->count++;
	}
	return NULL;
}

/* ---- stacks ---- */

static frame_id unknown_frame(struct fetch *f)
{
	struct builder *b = f->builder;

	if (!f->has_unknown) {
		function_id function = builder_function(b, builder_string(b, STR("[unknown]")),
			(object_id){NO_ID}, builder_string(b, STR("")), 0);

		f->unknown = builder_frame(b, function, builder_string(b, STR("")), 0, false, 0);
		f->has_unknown = true;
	}
	return f->unknown;
}

/* Adds the chain of a frame to the path. */
static void add_chain(struct fetch *f, uint64_t id)
{
	bool added;
	uint32_t *index = map_at(&f->chain_index, id, 0, (uint32_t)f->chains.count, &added);

	if (added)
		vec_push(&f->chains, (struct chain){0});
	struct chain *chain = &f->chains.data[*index];

	if (chain->count == 0) {
		vec_push(&f->path, unknown_frame(f));
		f->missing_frames += !chain->is_missing;
		chain->is_missing = true;
	}
	for (uint32_t k = 0; k < chain->count; k++)
		vec_push(&f->path, f->chain_frames.data[chain->first + k]);
}

/*
 * The stack of these frames, called from `parent`.  A server sends stacks in the order of their
 * frames, so most begin like the one before; only the rest is built.
 */
static stack_id build_path(struct fetch *f, stack_id parent, const uint8_t *frames, uint64_t count)
{
	struct last_path *last = &f->last;
	uint64_t same = 0, most = parent.i == last->parent.i ? last->count : 0;
	struct cursor c;

	while (same < most && same < count &&
		memcmp(frames + same * NUMBER_BYTES, last->frames + same * NUMBER_BYTES,
			NUMBER_BYTES) == 0)
		same++;
	f->path.count = 0;
	f->path_stacks.count = same ? f->path_ends.data[same - 1] : 0;
	f->path_ends.count = same;
	cursor_init(&c, frames + same * NUMBER_BYTES, (count - same) * NUMBER_BYTES, "", 0);
	for (uint64_t i = same; i < count; i++) {
		add_chain(f, cursor_u64(&c));
		vec_push(&f->path_ends, f->path_stacks.count + f->path.count);
	}
	*last = (struct last_path){parent, frames, count};
	if (f->path_stacks.count)
		parent = f->path_stacks.data[f->path_stacks.count - 1];
	if (f->path.count == 0)
		return parent;
	vec_reserve(&f->path_stacks, f->path_stacks.count + f->path.count);
	(void)builder_stack_path(f->builder, parent, f->path.data, f->path.count, SIZE_MAX,
		f->path_stacks.data + f->path_stacks.count);
	f->path_stacks.count += f->path.count;
	return f->path_stacks.data[f->path_stacks.count - 1];
}

/* The stack of an outer piece and of those further out; false: one is missing. */
static bool find_outer(struct fetch *f, uint64_t hash, stack_id *stack)
{
	VEC(uint32_t) pieces = {0}; /* innermost first */
	uint32_t index;
	bool is_good = true;

	*stack = (stack_id){0};
	while (hash && is_good) {
		is_good = map_get(&f->piece_index, hash, 0, &index) &&
			  !f->pieces.data[index].is_under_way;
		if (!is_good)
			break;
		struct piece *piece = &f->pieces.data[index];

		if (piece->is_known) {
			*stack = piece->stack;
			break;
		}
		piece->is_under_way = true;
		vec_push(&pieces, index);
		hash = piece->outer_hash;
	}
	for (size_t i = pieces.count; i-- > 0;) {
		struct piece *piece = &f->pieces.data[pieces.data[i]];

		piece->is_under_way = false;
		if (!is_good)
			continue;
		*stack = build_path(f, *stack, piece->frames, piece->count);
		piece->stack = *stack;
		piece->is_known = true;
	}
	vec_deinit(&pieces);
	return is_good;
}

static struct error *read_outer(struct fetch *f, struct cursor *c)
{
	while (cursor_ok(c) && !cursor_at_end(c)) {
		struct piece piece = {0};
		uint64_t hash = cursor_u64(c);
		bool added;

		piece.outer_hash = cursor_u64(c);
		piece.count = wire_count(c, NUMBER_BYTES);
		const uint8_t *frames = cursor_bytes(c, piece.count * NUMBER_BYTES);
		if (frames == NULL)
			break;
		(void)map_at(&f->piece_index, hash, 0, (uint32_t)f->pieces.count, &added);
		if (!added)
			continue;
		uint8_t *copy = arena_alloc(f->arena, piece.count * NUMBER_BYTES);
		memcpy(copy, frames, piece.count * NUMBER_BYTES);
		piece.frames = copy;
		vec_push(&f->pieces, piece);
	}
	return NULL;
}

/* Whether this is a service's empty stack, which has no row in `stacks`. */
static bool is_empty_stack(const struct fetch *f, uint64_t hash)
{
	for (size_t i = 0; i < f->services.count; i++) {
		if (identity_service(f->services.strings[i]) == hash)
			return true;
	}
	return false;
}

/* Makes the stack of a row. */
static struct known_stack make_stack(
	struct fetch *f, uint64_t hash, uint64_t outer_hash, const uint8_t *frames, uint64_t count)
{
	stack_id outer = {0};

	if (count == 0 && (hash == 0 || is_empty_stack(f, hash)))
		return (struct known_stack){.stack = outer};
	if (count == 0 || !find_outer(f, outer_hash, &outer))
		return (struct known_stack){
			.stack = builder_stack(f->builder, (stack_id){0}, unknown_frame(f)),
			.is_missing = true};
	return (struct known_stack){.stack = build_path(f, outer, frames, count)};
}

/*
 * The stack of a row, which another shard may have sent before.  NULL: skip the row, as this shard
 * has sent it before: it sums a stack's weights, and joins them with each copy of its frames.
 */
static const struct known_stack *find_stack(
	struct fetch *f, uint64_t hash, uint64_t outer_hash, const uint8_t *frames, uint64_t count)
{
	bool added;
	uint32_t *index = map_at(&f->stack_index, hash, 0, (uint32_t)f->stacks.count, &added);

	if (added)
		vec_push(&f->stacks, make_stack(f, hash, outer_hash, frames, count));
	struct known_stack *s = &f->stacks.data[*index];

	if (s->next_shard > f->shard)
		return NULL;
	if (s->is_missing)
		*s = make_stack(f, hash, outer_hash, frames, count);
	f->missing_stacks += s->is_missing;
	s->next_shard = (uint32_t)f->shard + 1;
	return s;
}

/* ---- weights ---- */

/* The columns of a stack's row whose weights are kept apart. */
struct weights {
	uint64_t count;
	struct cursor services, hosts, keys, label_values, times;
};

/* An array of arrays of strings. */
static struct cursor take_string_lists(struct cursor *c)
{
	uint64_t count = wire_count(c, STRING_BYTES), strings;
	const uint8_t *begin = c->at;
	struct cursor lists;

	for (uint64_t i = 0; i < count; i++)
		(void)take_strings(c, &strings);
	cursor_init(&lists, begin, (size_t)(c->at - begin), c->name, cursor_offset(c));
	return lists;
}

/* An array of as many numbers as the row has weights. */
static struct cursor take_numbers(const struct weights *w, struct cursor *c, size_t bytes)
{
	if (wire_count(c, bytes) != w->count)
		cursor_fail(c, "arrays of a row differ in length");
	return cursor_sub(c, cursor_ok(c) ? w->count * bytes : 0);
}

/* Puts the weights themselves into f->values. */
static struct weights take_weights(struct fetch *f, struct cursor *c)
{
	struct cursor first = *c;
	struct weights w = {.count = wire_count(&first, NUMBER_BYTES)};
	uint64_t count;

	for (size_t i = 0; i < f->metrics.count; i++)
		f->values[i] = take_numbers(&w, c, NUMBER_BYTES);
	if (f->query->by_service || f->query->by_label)
		w.services = take_strings(c, &count);
	if (f->query->by_label) {
		w.hosts = take_strings(c, &count);
		w.keys = take_string_lists(c);
		w.label_values = take_string_lists(c);
	}
	if (f->query->by_time)
		w.times = take_numbers(&w, c, TIME_BYTES);
	return w;
}

static uint64_t samples_of(const struct fetch *f)
{
	for (uint32_t i = 0; i < f->metrics.count; i++) {
		if (metric_counts_samples(f->metrics.strings[i], f->units.data[i]))
			return sample_count(&f->weight[i]);
	}
	return UINT64_MAX;
}

static label_set_id add_label(struct fetch *f, label_set_id set, struct str key, struct str value)
{
	struct builder *b = f->builder;
	const struct label label = {
		builder_string(b, key), builder_string(b, value), 0, builder_string(b, STR(""))};

	return builder_label_set_with(b, set, builder_label(b, &label));
}

/* The labels of the next weight. */
static label_set_id take_labels(struct fetch *f, struct weights *w)
{
	label_set_id set = {0};
	uint64_t count, value_count;

	if (f->query->by_service || f->query->by_label)
		set = add_label(f, set, STR("service"), wire_str(&w->services));
	if (!f->query->by_label)
		return set;
	set = add_label(f, set, STR("host"), wire_str(&w->hosts));
	count = wire_count(&w->keys, STRING_BYTES);
	value_count = wire_count(&w->label_values, STRING_BYTES);
	for (uint64_t i = 0; i < count; i++) {
		struct str key = wire_str(&w->keys);

		set = add_label(
			f, set, key, i < value_count ? wire_str(&w->label_values) : STR(""));
	}
	return set;
}

/* Adds f->weight to what came. */
static void count_weight(struct fetch *f)
{
	for (size_t i = 0; i < f->metrics.count; i++)
		f->came[i] += (uint64_t)f->weight[i];
}

/* One of a stack's samples: all metrics of the same labels and time. */
struct sum {
	label_set_id labels;
	uint64_t time_ns;
	uint64_t length_ns; /* of the interval that begins then */
	size_t first;	    /* of its weights */
};

static void add_sum(struct fetch *f, int64_t *sum)
{
	for (size_t i = 0; i < f->metrics.count; i++) {
		if (__builtin_add_overflow(sum[i], f->weight[i], &sum[i]) && f->err == NULL)
			f->err = error_new(ERROR_INPUT, "the sum of %.*s exceeds 64 bits",
				STR_ARG(f->metrics.strings[i]));
	}
}

/* How many samples a sum stands for: those that were taken, or the largest weight. */
static uint64_t samples_in(struct fetch *f, const int64_t *weights)
{
	uint64_t most = 0;

	for (size_t i = 0; i < f->metrics.count; i++) {
		uint64_t count = sample_count(&weights[i]);

		if (metric_counts_samples(f->metrics.strings[i], f->units.data[i]))
			return count;
		most = count > most ? count : most;
	}
	return most;
}

static void add_sample(
	struct fetch *f, stack_id stack, const struct sum *sum, const int64_t *weights)
{
	struct spread s = spread_over(sum->length_ns, samples_in(f, weights), stack.i);

	for (uint64_t i = 0; i < s.count; i++) {
		bool has_time = sum->time_ns != UINT64_MAX;

		for (size_t k = 0; k < f->metrics.count; k++)
			f->weight[k] = spread_part(&s, weights[k], i);
		builder_sample(f->builder, stack, (thread_id){NO_ID},
			has_time ? sum->time_ns + spread_time_ns(&s, i) : UINT64_MAX, f->weight);
		builder_sample_labels(f->builder, sum->labels);
	}
	f->spread += sum->length_ns ? s.count : 0;
}

static void take_samples(struct fetch *f, stack_id stack, struct weights *w)
{
	size_t metrics = f->metrics.count;
	struct map index = {0}; /* by labels and time */
	VEC(struct sum) sums = {0};
	VEC(int64_t) weights = {0};

	for (uint64_t i = 0; i < w->count; i++) {
		struct sum sum = {.time_ns = UINT64_MAX, .first = sums.count * metrics};
		uint32_t seconds;
		bool added;

		sum.labels = take_labels(f, w);
		if (f->query->by_time) {
			uint64_t time_s = cursor_u32(&w->times);

			/* A profile that was committed meanwhile may be the earliest. */
			sum.time_ns = time_s > f->first_s ? (time_s - f->first_s) * SECOND_NS : 0;
			if (map_get(&f->seconds_of, time_s, 0, &seconds))
				sum.length_ns = seconds * SECOND_NS;
		}
		uint32_t at =
			*map_at(&index, sum.labels.i, sum.time_ns, (uint32_t)sums.count, &added);
		if (added) {
			vec_push(&sums, sum);
			vec_extend(&weights, sums.count * metrics);
		}
		for (size_t k = 0; k < metrics; k++)
			f->weight[k] = (int64_t)cursor_u64(&f->values[k]);
		count_weight(f);
		add_sum(f, &weights.data[sums.data[at].first]);
	}
	for (size_t i = 0; i < sums.count; i++)
		add_sample(f, stack, &sums.data[i], &weights.data[sums.data[i].first]);
	map_deinit(&index);
	vec_deinit(&sums);
	vec_deinit(&weights);
}

static struct error *read_stacks(struct fetch *f, struct cursor *c)
{
	bool has_lists = select_has_lists(f->query);

	f->last = (struct last_path){0};
	while (cursor_ok(c) && !cursor_at_end(c) && f->err == NULL) {
		uint64_t hash = cursor_u64(c), outer_hash = cursor_u64(c);
		uint64_t count = wire_count(c, NUMBER_BYTES);
		const uint8_t *frames = cursor_bytes(c, count * NUMBER_BYTES);
		struct weights w = {0};

		if (has_lists)
			w = take_weights(f, c);
		for (size_t i = 0; !has_lists && i < f->metrics.count; i++)
			f->weight[i] = (int64_t)cursor_u64(c);
		if (!cursor_ok(c))
			break;
		const struct known_stack *s = find_stack(f, hash, outer_hash, frames, count);

		if (s == NULL)
			continue;
		if (has_lists) {
			take_samples(f, s->stack, &w);
		} else {
			count_weight(f);
			builder_weight(f->builder, s->stack, f->weight, samples_of(f));
		}
	}
	return f->err;
}

/* ---- the whole ---- */

static void add_up(uint64_t *sum, uint64_t value, bool is_first)
{
	if (is_first)
		*sum = value;
	else if (value == UINT64_MAX || __builtin_add_overflow(*sum, value, sum))
		*sum = UINT64_MAX;
}

/* Sums, as in a merge; unknown if one is, or if a recording is here only in part. */
static void sum_stats(struct fetch *f, struct profile_stats *stats)
{
	uint64_t intervals = 0, asked = 0;

	for (size_t i = 0; i < f->sources.count; i++) {
		struct source *source = &f->sources.data[i];

		if (source->seen < source->parts)
			memset(&source->stats, 0xff, sizeof(source->stats));
		for (const struct stat_field *s = stat_fields; s->name; s++) {
			uint64_t value =
				*(const uint64_t *)((const char *)&source->stats + s->offset);

			if (s->offset == offsetof(struct profile_stats, interval_ns))
				add_up(&intervals, value, i == 0);
			else if (s->offset == offsetof(struct profile_stats, interval_asked_ns))
				add_up(&asked, value, i == 0);
			else
				add_up((uint64_t *)((char *)stats + s->offset), value, i == 0);
		}
	}
	stats->interval_ns = intervals == UINT64_MAX ? intervals : intervals / f->sources.count;
	stats->interval_asked_ns = asked == UINT64_MAX ? asked : asked / f->sources.count;
}

/*
 * Notes weights that were committed and are gone.  More than was promised may come, from profiles
 * that were committed meanwhile.
 */
static void note_missing(struct fetch *f)
{
	for (size_t i = 0; i < f->metrics.count && f->silent.count == 0; i++) {
		int64_t missing = (int64_t)(f->promised.data[i] - f->came[i]);
		bool is_count = str_equal(f->units.data[i], STR("count"));

		if (missing > 0)
			builder_note(f->builder, NOTE_LOST, 1,
				"%lld %.*s%s%.*s that were sent to the store are no longer in it",
				(long long)missing, is_count ? 0 : (int)f->units.data[i].size,
				f->units.data[i].data, is_count ? "" : " of ",
				STR_ARG(f->metrics.strings[i]));
	}
}

/* The name, if there is only one; else their number: "12 hosts". */
static string_id one_or_count(struct fetch *f, const struct str_table *names, const char *noun)
{
	char text[64];

	if (names->count == 1)
		return builder_string(f->builder, names->strings[0]);
	snprintf(text, sizeof(text), "%zu %s", names->count, noun);
	return builder_string(f->builder, str_from(text));
}

/* A host sends to one shard, until a shard is added or the host's name changes. */
static void note_twice(struct fetch *f)
{
	uint64_t count = 0;

	for (size_t i = 0; i < f->sources.count; i++)
		count += f->sources.data[i].is_twice;
	if (count)
		builder_note(f->builder, NOTE_INFO, count,
			"recordings of a service are in two shards and count twice: their host was "
			"given another shard, and sent them again");
}

static void describe(struct fetch *f, const char *source)
{
	struct builder *b = f->builder;
	struct builder_header *h = builder_header(b);
	uint32_t index;

	h->source = builder_string(b, str_from(source));
	h->format = builder_string(b, STR("store"));
	/* "[whole machine]" says less than the service. */
	if (f->commands.count == 1 && f->services.count == 1 &&
		str_starts_with(f->commands.strings[0], STR("[")))
		h->command = builder_string(b, f->services.strings[0]);
	else
		h->command = one_or_count(f, &f->commands, "commands");
	h->host = one_or_count(f, &f->hosts, "hosts");
	h->when = builder_string(b, f->patterns.strings[0]);
	h->start_unix_ns = f->first_s * SECOND_NS;
	if (str_table_find(&f->metrics, f->default_metric, &index))
		h->default_metric = (metric_id){index};
	sum_stats(f, &h->stats);
	/* First, as it concerns all figures. */
	for (size_t i = 0; i < f->silent.count; i++)
		builder_note(b, NOTE_LOST, 1, "a shard is missing, with all of its hosts: %s",
			f->silent.data[i]);
	if (f->fit)
		fit_note(f->fit, &f->notes);
	common_notes_put(&f->notes, b, "recordings");
	if (f->missing_stacks)
		builder_note(b, NOTE_LOST, f->missing_stacks,
			"stacks are not in the store, only their weights");
	if (f->missing_frames)
		builder_note(
			b, NOTE_LOST, f->missing_frames, "frames of stacks are not in the store");
	if (f->spread)
		builder_note(b, NOTE_GUESSED, f->spread,
			"times are not in the store: within their intervals, weights are spread "
			"evenly");
	note_missing(f);
	note_twice(f);
}

static struct error *nothing_found(const struct fetch *f)
{
	struct strbuf services = {0};

	for (size_t i = 0; i < f->query->services.count && i < SHOWN_MAX; i++)
		strbuf_printf(&services, "%s%.*s", i ? ", " : " of ",
			STR_ARG(f->query->services.data[i]));
	struct error *err = error_new(ERROR_INPUT,
		"no profile%.*s is in that range; `sonde fleet status` lists what there is",
		STR_ARG(strbuf_str(&services)));
	strbuf_deinit(&services);
	return err;
}

static struct error *no_shard(const struct fetch *f)
{
	return error_new(ERROR_INPUT, "no shard answers: %s", f->silent.data[0]);
}

/* Fetches which profiles there are, and which hours are summed. */
static void fetch_commits(struct fetch *f)
{
	size_t shards = clickhouse_shard_count(f->clickhouse);

	for (size_t i = 0; i < shards; i++)
		select_commits(f->query, f->fit, add_statement(f, i, read_commits));
	for (size_t i = 0; i < shards && select_can_use_hours(f->query); i++)
		select_hour_commits(f->query, add_statement(f, i, read_hour_commits));
	ask(f, 0, f->statements.count);
	forget_statements(f);
}

/*
 * Frames and pieces of stacks are read before the stacks, which are made of them.  Senders send
 * them first as well.  So if they are asked for after the stacks, none is missing; else, only some
 * that came in between.
 */
static void fetch_weights(struct fetch *f)
{
	size_t shards = clickhouse_shard_count(f->clickhouse), live = shards - f->silent.count;

	f->weight = xcalloc(f->metrics.count, sizeof(*f->weight));
	f->values = xcalloc(f->metrics.count, sizeof(*f->values));
	f->came = xcalloc(f->metrics.count, sizeof(*f->came));
	for (size_t i = 0; i < shards; i++)
		if (!f->is_silent[i])
			select_frames(f->query, add_statement(f, i, read_frames));
	for (size_t i = 0; i < shards; i++)
		if (!f->is_silent[i])
			select_outer(f->query, add_statement(f, i, read_outer));
	for (size_t i = 0; i < shards; i++)
		if (!f->is_silent[i])
			select_stacks(f->query, f->fit, &f->metrics, &f->summed[i],
				add_statement(f, i, read_stacks));
	if (f->is_patient)
		ask(f, 2 * live, live);
	ask(f, 0, (f->is_patient ? 2 : 3) * live);
	forget_statements(f);
}

/* Fills the builder. */
static void fetch_all(struct fetch *f)
{
	fetch_commits(f);
	if (f->err == NULL && f->silent.count == clickhouse_shard_count(f->clickhouse))
		f->err = no_shard(f);
	if (f->err == NULL && f->commits == 0)
		f->err = nothing_found(f);
	if (f->seen->is_mixed)
		return;
	for (uint32_t i = 0; f->err == NULL && i < f->metrics.count; i++)
		(void)builder_metric(f->builder, f->metrics.strings[i], f->units.data[i]);
	if (f->err == NULL && f->metrics.count > 0)
		fetch_weights(f);
}

static void fetch_deinit(struct fetch *f)
{
	str_table_deinit(&f->metrics);
	str_table_deinit(&f->services);
	str_table_deinit(&f->hosts);
	str_table_deinit(&f->commands);
	str_table_deinit(&f->formats);
	str_table_deinit(&f->patterns);
	vec_deinit(&f->units);
	vec_deinit(&f->statements);
	vec_deinit(&f->sources);
	map_deinit(&f->seconds_of);
	map_deinit(&f->source_index);
	map_deinit(&f->noted);
	common_notes_deinit(&f->notes);
	map_deinit(&f->chain_index);
	vec_deinit(&f->chains);
	vec_deinit(&f->chain_frames);
	map_deinit(&f->piece_index);
	vec_deinit(&f->pieces);
	map_deinit(&f->stack_index);
	vec_deinit(&f->stacks);
	vec_deinit(&f->path);
	vec_deinit(&f->path_stacks);
	vec_deinit(&f->path_ends);
	free(f->weight);
	free(f->values);
	free(f->came);
	vec_deinit(&f->promised);
	for (size_t i = 0; i < clickhouse_shard_count(f->clickhouse); i++)
		vec_deinit(&f->summed[i].list);
	free(f->summed);
	map_deinit(&f->hour_index);
	vec_deinit(&f->hours);
	free(f->is_silent);
	for (size_t i = 0; i < f->silent.count; i++)
		free(f->silent.data[i]);
	vec_deinit(&f->silent);
	arena_destroy(f->arena);
}

/*
 * fit: which profiles to sum; NULL: all.  *seen: what there is.  If that is mixed, there is no
 * profile.  *is_whole: nothing was missing that weights refer to.
 */
static struct error *fetch_once(struct clickhouse *clickhouse, const struct store_query *query,
	const char *source, const struct fit *fit, struct fit *seen, bool is_patient,
	struct profile **profile, bool *is_whole)
{
	struct fetch f = {.clickhouse = clickhouse,
		.query = query,
		.fit = fit,
		.seen = seen,
		.is_patient = is_patient,
		.builder = builder_create(),
		.arena = arena_create(),
		.summed = xcalloc(clickhouse_shard_count(clickhouse), sizeof(*f.summed)),
		.is_silent = xcalloc(clickhouse_shard_count(clickhouse), sizeof(bool))};
	struct error *err;

	*profile = NULL;
	str_table_init(&f.metrics, f.arena);
	str_table_init(&f.services, f.arena);
	str_table_init(&f.hosts, f.arena);
	str_table_init(&f.commands, f.arena);
	common_notes_init(&f.notes);
	str_table_init(&f.formats, f.arena);
	str_table_init(&f.patterns, f.arena);
	fetch_all(&f);
	err = f.err;
	*is_whole = f.missing_stacks == 0 && f.missing_frames == 0;
	if (err == NULL && !seen->is_mixed) {
		describe(&f, source);
		err = builder_finish(f.builder, profile);
	} else {
		builder_destroy(f.builder);
	}
	fetch_deinit(&f);
	return err;
}

/* The same, again if something was missing. */
static struct error *fetch_patiently(struct clickhouse *clickhouse, const struct store_query *query,
	const char *source, const struct fit *fit, struct fit *seen, struct profile **profile)
{
	bool is_whole;
	struct error *err =
		fetch_once(clickhouse, query, source, fit, seen, false, profile, &is_whole);

	if (err || is_whole)
		return err;
	profile_destroy(*profile);
	return fetch_once(clickhouse, query, source, fit, seen, true, profile, &is_whole);
}

struct error *fetch_clickhouse(struct clickhouse *clickhouse, const struct store_query *query,
	const char *source, struct profile **profile)
{
	struct fit all, rest;

	fit_init(&all);
	fit_init(&rest);
	struct error *err = fetch_patiently(clickhouse, query, source, NULL, &all, profile);

	if (err == NULL && all.is_mixed) {
		fit_choose(&all);
		err = fetch_patiently(clickhouse, query, source, &all, &rest, profile);
		if (err == NULL && rest.is_mixed)
			err = error_new(ERROR_INPUT, "profiles with other metrics came "
						     "meanwhile; ask again");
	}
	fit_deinit(&all);
	fit_deinit(&rest);
	return err;
}
