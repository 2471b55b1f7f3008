/*
 * Random profiles.  Paths are grown from the one before: a prefix of it is kept, then random
 * frames follow, so that stacks share prefixes and recur as real ones do.
 */
#include "random_profile.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"

const struct random_shape random_shape_small = {
	.functions = 6, .objects = 2, .stacks = 40, .depth_max = 8, .metrics = 1, .weight_max = 20};

struct random random_from(uint64_t seed)
{
	return (struct random){hash_u64(seed + 1) | 1};
}

uint64_t random_next(struct random *r)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return r->state * 0x2545f4914f6cdd1du;
}

uint32_t random_below(struct random *r, uint32_t below)
{
	return (uint32_t)((random_next(r) >> 32) * below >> 32);
}

struct random_shape random_shape_any(struct random *r)
{
	struct random_shape s = {.functions = 1 + random_below(r, 30),
		.objects = random_below(r, 4),
		.stacks = random_below(r, 200),
		.depth_max = 1 + random_below(r, 40),
		.metrics = 1 + random_below(r, 3),
		.weight_max = 1u << random_below(r, 31)};

	s.negative = random_below(r, 4) == 0;
	s.samples = random_below(r, 2);
	s.places = random_below(r, 2);
	s.hostile = random_below(r, 3) == 0;
	s.notes = random_below(r, 2);
	s.arcs = random_below(r, 4) == 0;
	s.zones = s.samples && random_below(r, 3) == 0;
	s.arc_costs = s.arcs && random_below(r, 2);
	s.labels = s.samples && random_below(r, 3) == 0;
	s.when = random_below(r, 2);
	return s;
}

/* What a program under profile may be called, or call its functions. */
static const char *const hostile_names[] = {"\033[31mred", "a;b", "line\nbreak", "\"quoted\\\"",
	"tab\there", "\xff\xfe not UTF-8", "\xe2\x80\xaegnp.exe", "# not a comment", "  ",
	"back`tick", "\302\2330m", "=cmd()", "caf\xc3\xa9", "\xed\xa0\x80", "cr\r", "[unknown]",
	"'", "operator new(unsigned long)", "\x7f"};

struct random_path {
	uint32_t depth;
	uint32_t *function; /* [depth], root first */
	int64_t *weight;    /* [metrics], and the two of zones */
	uint32_t zone;	    /* which zone stack */
	uint32_t labels;    /* which set of labels; 0: none */
};

/* Zone stacks are the first so many nodes of a tree; 0: in no zone. */
enum { ZONE_STACKS = 12, ZONE_METRICS = 2, LABEL_SETS = 6 };

struct maker {
	struct random random;
	const struct random_shape *shape;
	struct builder *builder;
	function_id *functions;
	thread_id threads[3];
	process_id processes[3]; /* of the threads */
	stack_id zones[ZONE_STACKS];
	label_set_id labels[LABEL_SETS];
	struct random_path *paths;
};

static string_id random_name(struct maker *m, const char *prefix, uint32_t number)
{
	char name[96];
	const char *hostile = "";

	if (m->shape->hostile && random_below(&m->random, 2))
		hostile = hostile_names[random_below(&m->random, ARRAY_SIZE(hostile_names))];
	int size = snprintf(name, sizeof(name), "%s%s%u", hostile, prefix, number);
	/* A NUL is a byte like any other. */
	if (m->shape->hostile && number % 5 == 4)
		name[size / 2] = '\0';
	return builder_string(m->builder, (struct str){name, (size_t)size});
}

static void make_functions(struct maker *m)
{
	const struct random_shape *shape = m->shape;

	m->functions = xcalloc(shape->functions, sizeof(*m->functions));
	for (uint32_t i = 0; i < shape->functions; i++) {
		object_id object = {NO_ID};
		if (shape->objects && random_below(&m->random, 8)) {
			uint32_t k = random_below(&m->random, shape->objects);
			string_id path = random_name(m, "/lib/o", k);
			object = builder_object(m->builder, builder_string_bytes(m->builder, path),
				k % 2 ? STR("0123abcd") : STR(""), (enum object_kind)(k % 4));
		}
		string_id file = {0};
		if (shape->places)
			file = random_name(m, "src/f.c", i % 3);
		/* Now and then two functions of one name. */
		string_id name = random_name(m, "f", i % 7 == 6 ? i - 1 : i);
		m->functions[i] = builder_function_called(m->builder, name,
			shape->places && i % 5 == 3 ? STR("__f\0also f\0") : STR(""), object, file,
			shape->places ? 10 * i : 0);
	}
}

static void make_threads(struct maker *m)
{
	process_id process = {0};

	if (!m->shape->samples)
		return;
	for (uint32_t i = 0; i < ARRAY_SIZE(m->threads); i++) {
		struct str name = builder_string_bytes(m->builder, random_name(m, "thread", i));
		if (i != 1)
			process = builder_process(m->builder, 100 + i, 7 * i, name);
		m->processes[i] = process;
		m->threads[i] = builder_thread(m->builder, 200 + i, process, 9 * i, name);
	}
}

static bool has_zones(const struct maker *m)
{
	return m->shape->zones && m->shape->samples;
}

/* A tree of them: "_global" is the root, the last one is not known; names recur. */
static void make_zones(struct maker *m)
{
	struct builder *b = m->builder;

	if (!has_zones(m))
		return;
	object_id object = builder_object(b, STR(ZONE_OBJECT), STR(""), OBJECT_ZONE);
	for (uint32_t i = 1; i < ZONE_STACKS; i++) {
		bool is_unknown = i == ZONE_STACKS - 1;
		string_id file = builder_string(b, is_unknown || i == 1 ? STR("") : STR("zones.c"));
		uint32_t line = is_unknown || i == 1 ? 0 : 10 * (i % 5);
		string_id name = i == 1	      ? builder_string(b, STR("_global"))
				 : is_unknown ? builder_string(b, STR("[unknown]"))
					      : random_name(m, "zone", i % 5);
		function_id function = builder_function(b, name, object, file, line);
		uint32_t parent = i == 1 || is_unknown ? 0 : 1 + random_below(&m->random, i - 1);

		m->zones[i] = builder_stack(
			b, m->zones[parent], builder_frame(b, function, file, line, false, 0));
	}
}

static bool has_labels(const struct maker *m)
{
	return m->shape->labels && m->shape->samples;
}

/* Sets of up to three labels: texts, numbers with units and without, two of one key. */
static void make_labels(struct maker *m)
{
	struct builder *b = m->builder;

	for (uint32_t i = 1; has_labels(m) && i < LABEL_SETS; i++) {
		struct label labels[3] = {
			{.key = random_name(m, "key", 0), .text = random_name(m, "text", i % 3)},
			{.key = random_name(m, "key", i % 2),
				.number = (int64_t)random_below(&m->random, 100) - 50},
			{.key = builder_string(b, STR("size")),
				.number = 1024 * i,
				.unit = builder_string(b, STR("bytes"))}};

		m->labels[i] = builder_label_set(b, labels + i % 2, 1 + i % 2);
	}
}

/* Rows of all zones but those that are none, in ticks of 10 µs that follow each other. */
static void play_zones(struct maker *m)
{
	int64_t weight[8] = {0};
	string_id stream = builder_string(m->builder, STR("frame"));

	if (!has_zones(m))
		return;
	for (uint32_t tick = 0; tick < 4; tick++) {
		uint32_t thread = random_below(&m->random, ARRAY_SIZE(m->threads));

		builder_tick(m->builder, &(struct tick){.process = m->processes[thread],
						 .stream = stream,
						 .number = tick,
						 .start_ns = 10000u * tick,
						 .end_ns = 10000u * (tick + 1),
						 .thread = {NO_ID}});
		for (uint32_t i = 1; i + 1 < ZONE_STACKS; i++) {
			uint32_t time_ns = 10000u * tick + random_below(&m->random, 10000);

			weight[m->shape->metrics] = random_below(&m->random, 1000);
			weight[m->shape->metrics + 1] = random_below(&m->random, 4);
			builder_sample(m->builder, m->zones[i], m->threads[thread],
				10000u * (tick + 1), weight);
			builder_sample_zone(m->builder, m->zones[i]);
			builder_zone_event(m->builder, m->threads[thread], time_ns,
				m->zones[random_below(&m->random, ZONE_STACKS)]);
		}
	}
}

static int64_t random_weight(struct maker *m)
{
	int64_t weight = 0;

	if (random_below(&m->random, 10))
		weight = (int64_t)random_below(&m->random, m->shape->weight_max) + 1;
	return m->shape->negative && random_below(&m->random, 2) ? -weight : weight;
}

static void make_path(struct maker *m, struct random_path *path, const struct random_path *before)
{
	const struct random_shape *shape = m->shape;
	uint32_t keep = before ? random_below(&m->random, before->depth + 1) : 0;

	path->depth = random_below(&m->random, shape->no_stacks ? 2 : shape->depth_max + 1);
	path->function = xcalloc(path->depth, sizeof(*path->function));
	path->weight = xcalloc(shape->metrics + ZONE_METRICS, sizeof(*path->weight));
	path->zone = has_zones(m) ? random_below(&m->random, ZONE_STACKS) : 0;
	path->labels = has_labels(m) ? random_below(&m->random, LABEL_SETS) : 0;
	for (uint32_t d = 0; d < path->depth; d++)
		path->function[d] =
			d < keep ? before->function[d] : random_below(&m->random, shape->functions);
	for (uint32_t k = 0; k < shape->metrics; k++)
		path->weight[k] = random_weight(m);
}

static void make_paths(struct maker *m)
{
	m->paths = xcalloc(m->shape->stacks, sizeof(*m->paths));
	for (uint32_t i = 0; i < m->shape->stacks; i++)
		make_path(m, &m->paths[i], i ? &m->paths[i - 1] : NULL);
}

static void shuffle_paths(struct maker *m, uint64_t seed)
{
	struct random r = random_from(seed);

	for (uint32_t i = m->shape->stacks; i > 1; i--) {
		uint32_t k = random_below(&r, i);
		struct random_path swap = m->paths[k];
		m->paths[k] = m->paths[i - 1];
		m->paths[i - 1] = swap;
	}
}

/*
 * The frame depends on function, depth and, where it is an inlined call's, the address of the frame
 * around it only, so that prefixes stay shared.
 */
static frame_id frame_of(struct maker *m, uint32_t function, uint32_t depth, uint64_t *obj_addr)
{
	uint32_t place = m->shape->places ? (function + depth) % 3 : 0;
	string_id file = {0};

	if (place)
		file = builder_string(m->builder, place == 1 ? STR("src/a.c") : STR("src/b.h"));
	if (place != 2 || depth == 0)
		*obj_addr = place ? 0x1000u * function + depth % 2 : 0;
	return builder_frame(
		m->builder, m->functions[function], file, 100 * place, place == 2, *obj_addr);
}

static void play_path(struct maker *m, uint32_t number)
{
	const struct random_path *path = &m->paths[number];
	stack_id stack = {0};
	uint64_t obj_addr = 0;

	for (uint32_t d = 0; d < path->depth; d++)
		stack = builder_stack(
			m->builder, stack, frame_of(m, path->function[d], d, &obj_addr));
	if (m->shape->samples)
		builder_sample(m->builder, stack, m->threads[number % ARRAY_SIZE(m->threads)],
			1000u * number, path->weight);
	else
		builder_weight(m->builder, stack, path->weight, 1);
	if (has_zones(m))
		builder_sample_zone(m->builder, m->zones[path->zone]);
	if (has_labels(m))
		builder_sample_labels(m->builder, m->labels[path->labels]);
}

static void make_metrics(struct maker *m)
{
	static const char *const names[] = {"samples", "cpu-time", "bytes"};
	static const char *const units[] = {"count", "ns", "bytes"};

	assert(m->shape->metrics >= 1 && m->shape->metrics <= ARRAY_SIZE(names));
	for (uint32_t k = 0; k < m->shape->metrics; k++)
		(void)builder_metric(m->builder, str_from(names[k]), str_from(units[k]));
	if (has_zones(m)) {
		(void)builder_metric(m->builder, STR(ZONE_TIME), STR("ns"));
		(void)builder_metric(m->builder, STR(ZONE_ENTRIES), STR("count"));
	}
	builder_header(m->builder)->default_metric.i = m->shape->metrics - 1;
}

static void make_notes(struct maker *m)
{
	struct builder_header *header = builder_header(m->builder);

	if (!m->shape->notes)
		return;
	builder_note(m->builder, NOTE_LOST, 3, "samples were lost");
	builder_note(m->builder, NOTE_INFO, 1, "recorded by chance");
	header->stats.lost = 3;
	header->stats.interval_ns = 997000;
	header->command = random_name(m, "command", 0);
	header->host = builder_string(m->builder, STR("host"));
	header->start_unix_ns = 1700000000000000000u;
}

static void add_arc(struct maker *m, function_id caller, function_id callee)
{
	uint32_t calls = random_below(&m->random, 100);
	int64_t cost[8] = {0};

	for (uint32_t k = 0; m->shape->arc_costs && k < m->shape->metrics; k++)
		cost[k] = random_weight(m);
	if (m->shape->arc_costs)
		(void)builder_arc_cost(m->builder, caller, callee, calls, cost);
	else
		builder_arc(m->builder, caller, callee, calls);
}

/* Some from nowhere, some to oneself, some that were never used. */
static void make_arcs(struct maker *m)
{
	uint32_t functions = m->shape->functions;

	builder_header(m->builder)->has_stacks = !m->shape->no_stacks;
	for (uint32_t i = 0; m->shape->arcs && i < 2 * functions; i++) {
		uint32_t caller = random_below(&m->random, functions + 1);
		uint32_t callee = random_below(&m->random, functions);

		add_arc(m, caller == functions ? (function_id){NO_ID} : m->functions[caller],
			m->functions[callee]);
	}
}

static struct profile *make_profile(struct maker *m, uint64_t shuffle_seed)
{
	struct profile *profile;

	m->builder = builder_create();
	make_metrics(m);
	make_functions(m);
	make_threads(m);
	make_zones(m);
	make_labels(m);
	make_paths(m);
	make_notes(m);
	make_arcs(m);
	/* The same in all, so that they can be merged. */
	if (m->shape->when)
		builder_header(m->builder)->when = builder_string(m->builder, STR(".a->*\0*\0"));
	if (shuffle_seed)
		shuffle_paths(m, shuffle_seed);
	for (uint32_t i = 0; i < m->shape->stacks; i++)
		play_path(m, i);
	play_zones(m);
	struct error *err = builder_finish(m->builder, &profile);
	if (err) {
		fprintf(stderr, "random_profile: %s\n", err->message);
		abort();
	}
	for (uint32_t i = 0; i < m->shape->stacks; i++) {
		free(m->paths[i].function);
		free(m->paths[i].weight);
	}
	free(m->paths);
	free(m->functions);
	return profile;
}

struct profile *random_profile(uint64_t seed, const struct random_shape *shape)
{
	struct maker m = {.random = random_from(seed), .shape = shape};

	return make_profile(&m, 0);
}

struct profile *random_profile_shuffled(
	uint64_t seed, uint64_t shuffle_seed, const struct random_shape *shape)
{
	struct maker m = {.random = random_from(seed), .shape = shape};

	return make_profile(&m, shuffle_seed | 1);
}
