/*
 * Names for a finished recording.  See capture_symbolize.h.
 *
 * The file is read once: frames, the names they have, and how many samples go through each frame,
 * which decides what is worth asking a server for.  Then it is written anew, chunk by chunk, with
 * all names, old and new, in SYMBOLS chunks before the end mark.
 */
#include "formats/sonde/capture_symbolize.h"

#include "base/search.h"
#include "base/sort.h"
#include "formats/sonde/capture_names.h"
#include "formats/sonde/layout/capture_batch.h"
#include "obj/kernel_file.h"
#include "symbolize/tail_callers.h"

enum { PACK_LEVEL = 5, SYMBOL_BYTES_MAX = 1 << 20 };

/* The names of an address; frames live in the arena. */
struct named {
	struct capture_frame frame;
	const struct capture_symbol_frame *frames;
	uint32_t count;
};

/* A load object with frames to look up. */
struct wanted_object {
	uint32_t object; /* in the file */
	VEC(uint64_t) obj_addrs;
	double weight; /* its nameless frames in all samples */
};

/* A frame directly in another one of the same object. */
struct object_pair {
	uint32_t object;
	struct tail_pair pair;
};

struct renaming {
	const struct reader_input *input;
	const struct capture_symbolize_options *options;
	struct capture_symbolize_result *result;
	struct arena *arena;
	struct str_table strings;
	struct capture_scan scan;
	VEC(struct capture_chunk) chunks;
	struct capture_unpacker *unpacker;
	bool is_profile;
	VEC(struct capture_object) objects;
	struct map object_of_id;	/* id in the file → objects */
	VEC(struct capture_mark) marks; /* of kernel objects */
	VEC(struct capture_frame) frames;
	VEC(struct capture_node) nodes; /* node 0 is the empty stack */
	VEC(double) samples;		/* by node: that end there; after frame_weights, or below */
	VEC(struct named) named;
	struct map named_at; /* (object, obj_addr) → named */
	VEC(struct wanted_object) wanted;
	VEC(struct object_pair) pairs;	/* if callers are to be restored */
	struct map tailed;		/* objects with tail calls in the file */
	VEC(struct capture_tail) tails; /* new ones */
	double weight;			/* of all frames */
};

static void renaming_deinit(struct renaming *r)
{
	for (size_t i = 0; i < r->wanted.count; i++)
		vec_deinit(&r->wanted.data[i].obj_addrs);
	vec_deinit(&r->wanted);
	vec_deinit(&r->pairs);
	map_deinit(&r->tailed);
	vec_deinit(&r->tails);
	vec_deinit(&r->named);
	map_deinit(&r->named_at);
	vec_deinit(&r->samples);
	vec_deinit(&r->nodes);
	vec_deinit(&r->frames);
	vec_deinit(&r->marks);
	vec_deinit(&r->objects);
	map_deinit(&r->object_of_id);
	vec_deinit(&r->chunks);
	capture_unpacker_destroy(r->unpacker);
	str_table_deinit(&r->strings);
	arena_destroy(r->arena);
}

static struct str keep(struct renaming *r, struct str s)
{
	uint32_t i = str_table_intern(&r->strings, s);

	return r->strings.strings[i];
}

/* The same frame, with strings that last. */
static struct capture_symbol_frame keep_frame(struct renaming *r, struct capture_symbol_frame frame)
{
	frame.function = keep(r, frame.function);
	frame.file = keep(r, frame.file);
	frame.function_file = keep(r, frame.function_file);
	frame.aliases = keep(r, frame.aliases);
	return frame;
}

/* ---- reading ---- */

static struct error *read_facts(struct renaming *r, struct cursor *payload)
{
	struct capture_fact fact;

	while (capture_get_fact(payload, &fact))
		r->is_profile |= fact.key == CAPTURE_PROFILE;
	return cursor_error(payload);
}

static struct error *read_objects(struct renaming *r, struct cursor *payload)
{
	struct capture_object row;
	bool added;

	while (capture_get_object(payload, &row)) {
		map_at(&r->object_of_id, row.object, 0, (uint32_t)r->objects.count, &added);
		row.path = keep(r, row.path);
		row.build_id = keep(r, row.build_id);
		if (added)
			vec_push(&r->objects, row);
	}
	return cursor_error(payload);
}

static struct error *read_marks(struct renaming *r, struct cursor *payload)
{
	struct capture_mark row;

	while (capture_get_mark(payload, &row)) {
		row.name = keep(r, row.name);
		vec_push(&r->marks, row);
	}
	return cursor_error(payload);
}

static struct error *read_tails(struct renaming *r, struct cursor *payload)
{
	struct capture_tail row;

	while (capture_get_tail(payload, &row))
		map_put(&r->tailed, row.object, 0, 0);
	return cursor_error(payload);
}

static struct error *read_stacks(
	struct renaming *r, struct cursor *payload, struct capture_stacks *stacks)
{
	struct error *err = capture_stacks_decode(payload, stacks);

	if (err)
		return err;
	if (stacks->first_frame != r->frames.count ||
		(stacks->nodes.count && stacks->first_node != r->nodes.count))
		cursor_fail(payload, "stacks are not in order");
	for (size_t i = 0; i < stacks->frames.count; i++)
		vec_push(&r->frames, stacks->frames.data[i]);
	for (size_t i = 0; i < stacks->nodes.count; i++) {
		struct capture_node node = stacks->nodes.data[i];

		if (node.frame >= r->frames.count || node.parent >= r->nodes.count) {
			cursor_fail(payload, "a stack refers to a missing one");
			break;
		}
		vec_push(&r->nodes, node);
		vec_push(&r->samples, 0);
	}
	return cursor_error(payload);
}

static struct error *read_samples(struct renaming *r, struct cursor *payload)
{
	struct capture_samples_decoder d;
	struct capture_sample sample;
	struct error *err = capture_samples_begin(&d, payload);

	if (err)
		return err;
	while (capture_samples_next(&d, &sample))
		if (sample.node < r->samples.count)
			r->samples.data[sample.node] += 1;
	return capture_samples_error(&d);
}

/* Sets the names of an address; only the first ones in the file count, as for its reader. */
static void add_named(struct renaming *r, const struct capture_symbol *symbol,
	const struct capture_symbol_frame *frames)
{
	bool added;

	map_at(&r->named_at, symbol->object, symbol->obj_addr, (uint32_t)r->named.count, &added);
	if (!added)
		return;
	struct capture_symbol_frame *kept =
		ARENA_ARRAY(r->arena, struct capture_symbol_frame, symbol->count);
	for (uint32_t i = 0; i < symbol->count; i++)
		kept[i] = keep_frame(r, frames[i]);
	vec_push(
		&r->named, (struct named){{symbol->object, symbol->obj_addr}, kept, symbol->count});
}

static struct error *read_symbols(struct renaming *r, struct cursor *payload)
{
	struct capture_symbol_frame frames[CAPTURE_CHAIN_MAX];
	struct capture_symbols_decoder d;
	struct capture_symbol symbol;
	struct arena *arena = arena_create();
	struct error *err = capture_symbols_begin(&d, payload, arena);

	while (err == NULL && capture_symbols_next(&d, &symbol)) {
		uint32_t count = 0;

		while (count < symbol.count && capture_symbols_frame(&d, &frames[count]))
			count++;
		if (count < symbol.count)
			break;
		add_named(r, &symbol, frames);
	}
	if (err == NULL)
		err = capture_symbols_error(&d);
	arena_destroy(arena);
	return err;
}

static struct error *read_payload(
	struct renaming *r, uint8_t type, struct cursor *payload, struct capture_stacks *stacks)
{
	switch (type) {
	case CAPTURE_CHUNK_FACTS:
		return read_facts(r, payload);
	case CAPTURE_CHUNK_OBJECTS:
		return read_objects(r, payload);
	case CAPTURE_CHUNK_MARKS:
		return read_marks(r, payload);
	case CAPTURE_CHUNK_TAILS:
		return read_tails(r, payload);
	case CAPTURE_CHUNK_STACKS:
		return read_stacks(r, payload, stacks);
	case CAPTURE_CHUNK_SAMPLES:
		return read_samples(r, payload);
	case CAPTURE_CHUNK_SYMBOLS:
		return read_symbols(r, payload);
	default:
		return NULL;
	}
}

static struct error *damaged(const struct renaming *r, uint64_t offset)
{
	return error_input(r->input->name, offset,
		"the recording is damaged; names can only be added to a whole one");
}

static struct error *scan_chunks(struct renaming *r)
{
	struct capture_chunk chunk;

	capture_scan_init(&r->scan, r->input->data, r->input->size);
	while (capture_scan_next(&r->scan, &chunk))
		vec_push(&r->chunks, chunk);
	if (r->scan.damaged_places)
		return damaged(r, r->scan.damaged_first);
	return r->scan.missing_chunks ? damaged(r, CAPTURE_FILE_HEADER_SIZE) : NULL;
}

static struct error *read_all(struct renaming *r)
{
	struct capture_stacks stacks = {0};
	struct error *err = scan_chunks(r);

	vec_push(&r->nodes, (struct capture_node){0});
	vec_push(&r->samples, 0);
	for (size_t i = 0; i < r->chunks.count && err == NULL; i++) {
		const struct capture_chunk *chunk = &r->chunks.data[i];
		struct cursor payload;

		err = capture_unpack(r->unpacker, chunk, r->input->name, &payload);
		if (err == NULL)
			err = read_payload(r, chunk->type, &payload, &stacks);
	}
	capture_stacks_deinit(&stacks);
	if (err == NULL && r->is_profile)
		err = error_new(ERROR_UNSUPPORTED,
			"%s is a profile that was written by merge or convert; add names to the "
			"recordings that it was made from",
			r->input->name);
	return err;
}

/* ---- what to look up ---- */

static const struct capture_object *object_of(const struct renaming *r, uint32_t object)
{
	uint32_t index;

	return map_get(&r->object_of_id, object, 0, &index) ? &r->objects.data[index] : NULL;
}

static const struct named *named_of(const struct renaming *r, const struct capture_frame *frame)
{
	uint32_t index;

	return map_get(&r->named_at, frame->object, frame->obj_addr, &index) ? &r->named.data[index]
									     : NULL;
}

static bool is_nameless(const struct named *named)
{
	const struct capture_symbol_frame *outermost =
		named ? &named->frames[named->count - 1] : NULL;

	return outermost == NULL || outermost->is_nameless || outermost->function.size == 0;
}

static bool is_name_chosen(const struct renaming *r, struct str name)
{
	uint64_t work = 1000000;

	return r->options->modules && regex_match(r->options->modules, name, &work) == REGEX_YES;
}

/* The kernel's names count with and without their brackets. */
static bool is_module_chosen(const struct renaming *r, const struct capture_object *o)
{
	struct str name = str_base_name(o->path);

	return is_name_chosen(r, name) ||
	       (o->kind == CAPTURE_OBJECT_KERNEL && name.size > 2 &&
		       is_name_chosen(r, (struct str){name.data + 1, name.size - 2}));
}

/* [frame] How many samples go through it; to be freed. */
static double *frame_weights(struct renaming *r)
{
	double *weights = xcalloc(r->frames.count + 1, sizeof(*weights));

	for (size_t i = r->nodes.count; i-- > 1;) {
		weights[r->nodes.data[i].frame] += r->samples.data[i];
		r->samples.data[r->nodes.data[i].parent] += r->samples.data[i];
	}
	for (size_t i = 0; i < r->frames.count; i++)
		r->weight += weights[i];
	return weights;
}

static int frame_compare(const void *a, const void *b)
{
	const struct capture_frame *x = a, *y = b;

	return COMPARE(x->object, y->object) ?: COMPARE(x->obj_addr, y->obj_addr);
}

/* Heaviest first; then in the file's order. */
static int wanted_compare(const void *a, const void *b)
{
	const struct wanted_object *x = a, *y = b;

	return COMPARE(y->weight, x->weight) ?: COMPARE(x->object, y->object);
}

static struct wanted_object *wanted_at(struct renaming *r, struct map *places, uint32_t object)
{
	bool added;
	uint32_t place = *map_at(places, object, 0, (uint32_t)r->wanted.count, &added);

	if (added)
		vec_push(&r->wanted, (struct wanted_object){.object = object});
	return &r->wanted.data[place];
}

static int address_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return COMPARE(*x, *y);
}

/* Puts the addresses in order; damaged files may define a frame twice. */
static void sort_addresses(struct wanted_object *wanted)
{
	uint64_t *addrs = wanted->obj_addrs.data;
	size_t distinct = 0;

	qsort(addrs, wanted->obj_addrs.count, sizeof(*addrs), address_compare);
	for (size_t i = 0; i < wanted->obj_addrs.count; i++)
		if (distinct == 0 || addrs[i] != addrs[distinct - 1])
			addrs[distinct++] = addrs[i];
	wanted->obj_addrs.count = distinct;
}

static void find_wanted(struct renaming *r)
{
	double *weights = frame_weights(r);
	struct map places = {0};

	for (size_t i = 0; i < r->frames.count; i++) {
		const struct capture_frame *frame = &r->frames.data[i];
		const struct capture_object *o = object_of(r, frame->object);

		if (o == NULL ||
			(o->kind != CAPTURE_OBJECT_USER && o->kind != CAPTURE_OBJECT_KERNEL))
			continue;
		if (!is_nameless(named_of(r, frame)) && !is_module_chosen(r, o))
			continue;
		struct wanted_object *wanted = wanted_at(r, &places, frame->object);
		vec_push(&wanted->obj_addrs, frame->obj_addr);
		wanted->weight += weights[i];
	}
	map_deinit(&places);
	free(weights);
	for (size_t i = 0; i < r->wanted.count; i++)
		sort_addresses(&r->wanted.data[i]);
	if (r->wanted.count)
		qsort(r->wanted.data, r->wanted.count, sizeof(*r->wanted.data), wanted_compare);
}

/* ---- looking up ---- */

static bool same_frame(const struct capture_symbol_frame *a, const struct capture_symbol_frame *b)
{
	return str_equal(a->function, b->function) && str_equal(a->file, b->file) &&
	       str_equal(a->function_file, b->function_file) && str_equal(a->aliases, b->aliases) &&
	       a->line == b->line && a->function_line == b->function_line &&
	       a->is_inline == b->is_inline && a->is_nameless == b->is_nameless &&
	       a->is_guessed_start == b->is_guessed_start;
}

static bool same_frames(const struct named *named, const struct named *other)
{
	if (named->count != other->count)
		return false;
	for (uint32_t i = 0; i < named->count; i++)
		if (!same_frame(&named->frames[i], &other->frames[i]))
			return false;
	return true;
}

/* Of a very long chain, the innermost frames and the outermost stay, as in recordings. */
static struct named named_of_place(
	struct renaming *r, struct capture_frame frame, const struct symbol_place *place)
{
	uint32_t count = place->count < CAPTURE_CHAIN_MAX ? place->count : CAPTURE_CHAIN_MAX;
	struct capture_symbol_frame *frames =
		ARENA_ARRAY(r->arena, struct capture_symbol_frame, count);

	for (uint32_t i = 0; i < count; i++)
		frames[i] = keep_frame(r,
			capture_names_frame(&place->frames[i + 1 == count ? place->count - 1 : i]));
	return (struct named){frame, frames, count};
}

static void take_place(
	struct renaming *r, struct capture_frame frame, const struct symbol_place *place)
{
	bool added;
	struct named fresh = named_of_place(r, frame, place);
	uint32_t index = *map_at(
		&r->named_at, frame.object, frame.obj_addr, (uint32_t)r->named.count, &added);

	if (added)
		vec_push(&r->named, fresh);
	else if (same_frames(&r->named.data[index], &fresh))
		return;
	else
		r->named.data[index] = fresh;
	r->result->changed++;
}

static bool has_name(const struct symbol_place *place)
{
	return place->count && !place->frames[place->count - 1].is_nameless &&
	       place->frames[place->count - 1].function.size;
}

/* The marks of an object, in the arena; returns how many. */
static size_t marks_of(
	const struct renaming *r, uint32_t object, struct arena *arena, struct kernel_mark **marks)
{
	size_t count = 0;

	*marks = ARENA_ARRAY(arena, struct kernel_mark, r->marks.count);
	for (size_t i = 0; i < r->marks.count; i++)
		if (r->marks.data[i].object == object)
			(*marks)[count++] =
				(struct kernel_mark){r->marks.data[i].name, r->marks.data[i].va};
	return count;
}

static int pair_compare(const void *a, const void *b)
{
	const struct object_pair *x = a, *y = b;

	return COMPARE(x->object, y->object) ?: COMPARE(x->pair.caller, y->pair.caller)
						?: COMPARE(x->pair.callee, y->pair.callee);
}

/* Collects all pairs, ascending and different. */
static void find_pairs(struct renaming *r)
{
	size_t distinct = 0;

	for (size_t i = 1; i < r->nodes.count; i++) {
		const struct capture_node *node = &r->nodes.data[i];
		if (node->parent == 0)
			continue;
		const struct capture_frame *callee = &r->frames.data[node->frame];
		const struct capture_frame *caller =
			&r->frames.data[r->nodes.data[node->parent].frame];

		if (caller->object == callee->object)
			vec_push(&r->pairs, (struct object_pair){callee->object,
						    {caller->obj_addr, callee->obj_addr}});
	}
	struct object_pair *pairs = r->pairs.data;
	if (r->pairs.count)
		qsort(pairs, r->pairs.count, sizeof(*pairs), pair_compare);
	for (size_t i = 0; i < r->pairs.count; i++)
		if (distinct == 0 || pair_compare(&pairs[i], &pairs[distinct - 1]) != 0)
			pairs[distinct++] = pairs[i];
	r->pairs.count = distinct;
}

/* The pairs of an object, in the arena; returns how many. */
static size_t pairs_of(
	const struct renaming *r, uint32_t object, struct arena *arena, struct tail_pair **pairs)
{
	const struct object_pair *all = r->pairs.data;
	size_t begin = partition_point(i, 0, r->pairs.count, all[i].object < object);
	size_t end = partition_point(i, begin, r->pairs.count, all[i].object <= object);

	*pairs = ARENA_ARRAY(arena, struct tail_pair, end - begin);
	for (size_t i = begin; i < end; i++)
		(*pairs)[i - begin] = all[i].pair;
	return end - begin;
}

/* A load object whose callers are restored. */
struct restoring {
	struct renaming *r;
	uint32_t object;
};

static void take_tail(void *context, const struct tail_pair *pair, uint64_t obj_addr)
{
	const struct restoring *restoring = context;

	vec_push(&restoring->r->tails,
		(struct capture_tail){restoring->object, pair->caller, pair->callee, obj_addr});
}

static bool is_jump_named(void *context, uint64_t obj_addr)
{
	const struct restoring *restoring = context;
	const struct capture_frame frame = {restoring->object, obj_addr};

	return !is_nameless(named_of(restoring->r, &frame));
}

static void take_jump_place(void *context, uint64_t obj_addr, const struct symbol_place *place)
{
	const struct restoring *restoring = context;

	if (has_name(place))
		take_place(
			restoring->r, (struct capture_frame){restoring->object, obj_addr}, place);
}

/* Restores an object's callers that left no frame, unless the file has some already. */
static void restore_callers(
	struct renaming *r, uint32_t object, const struct symbolize_object *what)
{
	struct restoring restoring = {r, object};
	const struct tail_callers_taker taker = {
		take_tail, is_jump_named, take_jump_place, &restoring};
	uint32_t known;

	if (map_get(&r->tailed, object, 0, &known))
		return;
	struct arena *arena = arena_create();
	struct tail_pair *pairs;
	size_t count = pairs_of(r, object, arena, &pairs);
	tail_callers_restore(r->options->symbolizer, what, pairs, count, &taker);
	arena_destroy(arena);
}

static void look_up(struct renaming *r, const struct wanted_object *wanted,
	const struct capture_object *o, struct capture_symbolize_module *module)
{
	size_t count = wanted->obj_addrs.count;
	struct arena *arena = arena_create();
	struct symbol_place *places = ARENA_ARRAY(arena, struct symbol_place, count);
	struct symbolize_status status;
	struct kernel_mark *marks;
	size_t mark_count = marks_of(r, wanted->object, arena, &marks);

	const struct symbolize_object what = {.path = o->path,
		.build_id = o->build_id,
		.kind = o->kind == CAPTURE_OBJECT_KERNEL ? OBJECT_KERNEL : OBJECT_USER,
		.marks = marks,
		.mark_count = mark_count,
		.is_other_kernel = true};

	symbolize_addresses(r->options->symbolizer, &what, wanted->obj_addrs.data, count, arena,
		places, &status);
	for (size_t i = 0; i < count; i++) {
		if (!has_name(&places[i]))
			continue;
		module->named++;
		take_place(r, (struct capture_frame){wanted->object, wanted->obj_addrs.data[i]},
			&places[i]);
	}
	if (r->options->tail_calls && what.kind == OBJECT_USER && status.has_lines)
		restore_callers(r, wanted->object, &what);
	if (module->named < module->wanted && status.problem)
		module->problem = arena_str(r->result->arena, str_from(status.problem)).data;
	arena_destroy(arena);
}

static bool hardly_matters(const struct renaming *r, size_t i)
{
	const struct capture_symbolize_options *options = r->options;

	return (options->modules_max && i >= options->modules_max) ||
	       r->wanted.data[i].weight < options->share_min * r->weight;
}

static void look_up_all(struct renaming *r)
{
	struct capture_symbolize_result *result = r->result;

	for (size_t i = 0; i < r->wanted.count && !result->is_stopped; i++) {
		const struct wanted_object *wanted = &r->wanted.data[i];
		const struct capture_object *o = object_of(r, wanted->object);
		struct capture_symbolize_module module = {.path = arena_str(result->arena, o->path),
			.build_id = arena_str(result->arena, o->build_id),
			.wanted = wanted->obj_addrs.count};

		if (o->build_id.size == 0)
			module.problem = "the recording has no build ID of it";
		else if (hardly_matters(r, i))
			module.is_skipped = true;
		else
			look_up(r, wanted, o, &module);
		vec_push(&result->modules, module);
		result->is_stopped = r->options->stops && r->options->stops(r->options->context);
	}
}

/* ---- writing ---- */

static int named_compare(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return frame_compare(&x->frame, &y->frame);
}

static void write_symbols(struct renaming *r, struct capture_packer *packer, struct strbuf *out)
{
	struct capture_symbols_encoder *encoder = capture_symbols_encoder_create();
	struct strbuf raw = {0};

	qsort(r->named.data, r->named.count, sizeof(*r->named.data), named_compare);
	for (size_t i = 0; i < r->named.count; i++) {
		const struct named *named = &r->named.data[i];

		capture_symbols_add(encoder, named->frame.object, named->frame.obj_addr,
			named->frames, named->count);
		if (capture_symbols_waiting(encoder) < SYMBOL_BYTES_MAX && i + 1 < r->named.count)
			continue;
		strbuf_clear(&raw);
		capture_symbols_encode(encoder, &raw);
		capture_pack_chunk(packer, CAPTURE_CHUNK_SYMBOLS, strbuf_str(&raw), out);
	}
	strbuf_deinit(&raw);
	capture_symbols_encoder_destroy(encoder);
}

static void write_tails(struct renaming *r, struct capture_packer *packer, struct strbuf *out)
{
	struct strbuf raw = {0};

	for (size_t i = 0; i < r->tails.count; i++) {
		capture_put_tail(&raw, &r->tails.data[i]);
		if (raw.size < SYMBOL_BYTES_MAX && i + 1 < r->tails.count)
			continue;
		capture_pack_chunk(packer, CAPTURE_CHUNK_TAILS, strbuf_str(&raw), out);
		strbuf_clear(&raw);
	}
	strbuf_deinit(&raw);
}

/* Copies the end mark, or all chunks but that and the names. */
static struct error *write_chunks(
	struct renaming *r, struct capture_packer *packer, bool is_end, struct strbuf *out)
{
	for (size_t i = 0; i < r->chunks.count; i++) {
		const struct capture_chunk *chunk = &r->chunks.data[i];
		struct cursor payload;

		if (chunk->type == CAPTURE_CHUNK_SYMBOLS ||
			(chunk->type == CAPTURE_CHUNK_END) != is_end)
			continue;
		struct error *err = capture_unpack(r->unpacker, chunk, r->input->name, &payload);
		if (err)
			return err;
		capture_pack_chunk(packer, (enum capture_chunk_type)chunk->type,
			(struct str){(const char *)payload.at, cursor_left(&payload)}, out);
	}
	return NULL;
}

static struct error *write_file(struct renaming *r, struct strbuf *out)
{
	struct capture_packer *packer = capture_packer_create(PACK_LEVEL);

	capture_pack_file_header(packer, out);
	struct error *err = write_chunks(r, packer, false, out);
	if (err == NULL) {
		write_symbols(r, packer, out);
		write_tails(r, packer, out);
		err = write_chunks(r, packer, true, out);
	}
	capture_packer_destroy(packer);
	return err;
}

struct error *capture_symbolize(const struct reader_input *input,
	const struct capture_symbolize_options *options, struct strbuf *out,
	struct capture_symbolize_result *result)
{
	struct renaming r = {.input = input, .options = options, .result = result};

	*result = (struct capture_symbolize_result){.arena = arena_create()};
	struct error *err = capture_check_file_header(input->data, input->size, input->name);
	if (err)
		return err;
	r.arena = arena_create();
	str_table_init(&r.strings, r.arena);
	r.unpacker = capture_unpacker_create();
	err = read_all(&r);
	if (err == NULL) {
		find_wanted(&r);
		if (options->tail_calls)
			find_pairs(&r);
		look_up_all(&r);
		if (result->changed && !result->is_stopped)
			err = write_file(&r, out);
	}
	renaming_deinit(&r);
	return err;
}

void capture_symbolize_result_deinit(struct capture_symbolize_result *result)
{
	vec_deinit(&result->modules);
	arena_destroy(result->arena);
}
