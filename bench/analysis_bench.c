/*
 * Times every analysis on profiles made to be hard: deep recursion, a million distinct stacks, one
 * stack of a million frames, a million functions.
 *
 *	analysis_bench [CASE]
 *
 * Each figure is CPU time, the best of three; building the profile is not part of it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/callers.h"
#include "analysis/callgraph.h"
#include "analysis/calltree.h"
#include "analysis/functions.h"
#include "analysis/selection.h"
#include "analysis/stats.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "model/builder.h"

#define ROUNDS 3

struct shape {
	const char *name, *what;
	uint32_t functions, samples, depth_max;
	uint32_t step; /* frames popped and pushed between two samples, at most */
};

static const struct shape shapes[] = {
	{"recursion", "12 functions calling each other, 2,000 deep, 1 M samples", 12, 1000000, 2000,
		8},
	{"self", "one function, 2,000 deep, 1 M samples", 1, 1000000, 2000, 40},
	{"wide", "5,000 functions, 60 deep, 1 M samples", 5000, 1000000, 60, 12},
	{"deep", "one stack of 1 M frames, 1,000 functions", 1000, 1, 1000000, 1000000},
	{"names", "1 M functions, each called once, 2 deep", 1000000, 1000000, 2, 2},
};

struct maker {
	struct builder *builder;
	const struct shape *shape;
	frame_id *frames; /* two places in each function */
	stack_id *path;	  /* [depth] of the sample before */
	uint32_t depth;
	uint64_t random;
};

static uint32_t below(struct maker *m, uint32_t n)
{
	return (uint32_t)((hash_u64(++m->random) >> 32) * n >> 32);
}

static void make_frames(struct maker *m)
{
	uint32_t count = m->shape->functions;
	char name[64];

	object_id object =
		builder_object(m->builder, STR("/usr/bin/program"), STR(""), OBJECT_USER);
	string_id file = builder_string(m->builder, STR("program.c"));
	m->frames = xcalloc((size_t)count * 2, sizeof(*m->frames));
	for (uint32_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "program_function_number_%u", i);
		string_id id = builder_string(m->builder, str_from(name));
		function_id f = builder_function(m->builder, id, object, file, i);
		for (uint32_t k = 0; k < 2; k++)
			m->frames[2 * i + k] = builder_frame(
				m->builder, f, file, i + k, false, 0x1000 + 16 * i + k);
	}
}

/* From the stack before: some frames return, some are called. */
static void next_path(struct maker *m)
{
	uint32_t pop = below(m, m->shape->step + 1), push = 1 + below(m, m->shape->step);

	m->depth -= pop < m->depth ? pop : m->depth;
	/* The one deep stack is made in one go. */
	if (m->shape->samples == 1)
		push = m->shape->depth_max;
	for (; push > 0 && m->depth < m->shape->depth_max; push--, m->depth++) {
		stack_id parent = m->depth ? m->path[m->depth - 1] : (stack_id){0};
		frame_id frame = m->frames[below(m, m->shape->functions * 2)];
		m->path[m->depth] = builder_stack(m->builder, parent, frame);
	}
}

static struct profile *make_profile(const struct shape *shape)
{
	struct maker m = {.builder = builder_create(), .shape = shape};
	struct profile *profile = NULL;
	const int64_t weight = 1000000;

	(void)builder_metric(m.builder, STR("cpu-time"), STR("ns"));
	make_frames(&m);
	m.path = xcalloc(shape->depth_max, sizeof(*m.path));
	for (uint32_t i = 0; i < shape->samples; i++) {
		next_path(&m);
		builder_weight(m.builder, m.path[m.depth - 1], &weight, 1);
	}
	free(m.frames);
	free(m.path);
	struct error *err = builder_finish(m.builder, &profile);
	if (err) {
		fprintf(stderr, "analysis_bench: %s\n", err->message);
		exit(1);
	}
	return profile;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

enum step {
	STEP_TREE,
	STEP_MODULES,
	STEP_SPREAD,
	STEP_FUNCTIONS,
	STEP_STATS,
	STEP_CALLERS,
	STEP_CALLGRAPH,
	STEP_CALLTREE, /* the first of COLLAPSE_COUNT */
	STEP_COUNT = STEP_CALLTREE + COLLAPSE_COUNT
};

static const char *const step_names[STEP_COUNT] = {"entity tree", "by module", "spread",
	"functions", "stats", "callers", "graph", "tree: none", "tree: direct",
	"tree: conservative", "tree: full"};

/* Runs one step; the number of nodes or rows it gave. */
static size_t run_step(const struct profile *p, const struct entity_tree *tree, enum step step,
	struct arena *arena)
{
	switch (step) {
	case STEP_TREE:
		return entity_tree_of(p, LEVEL_FUNCTION, p->default_metric, arena)->node_count;
	case STEP_MODULES:
		return entity_tree_of(p, LEVEL_MODULE, p->default_metric, arena)->node_count;
	case STEP_SPREAD:
		return entity_tree_spread(tree, arena)->entity_count;
	case STEP_FUNCTIONS:
		return functions_analyse(tree, arena)->count;
	case STEP_STATS:
		return stats_analyse(selection_all(p, arena), tree, arena).stack_count;
	case STEP_CALLERS:
		return callers_analyse(tree, NULL, arena)->line_count;
	case STEP_CALLGRAPH:
		return callgraph_analyse(tree, NULL, 0, arena)->line_count;
	case STEP_CALLTREE:
	case STEP_COUNT:
	default:
		return calltree_analyse(tree, (enum collapse)(step - STEP_CALLTREE),
			CALLTREE_BY_WEIGHT, NULL, arena)
			->count;
	}
}

static void time_step(const struct profile *p, const struct entity_tree *tree, enum step step)
{
	double best_ms = 1e9;
	size_t rows = 0, bytes = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct arena *arena = arena_create();
		double start_ms = now_ms();
		rows = run_step(p, tree, step, arena);
		double took_ms = now_ms() - start_ms;
		best_ms = took_ms < best_ms ? took_ms : best_ms;
		bytes = arena_size_bytes(arena);
		arena_destroy(arena);
	}
	printf("  %-20s %8.1f ms  %9zu rows  %6.1f MB\n", step_names[step], best_ms, rows,
		(double)bytes / 1e6);
}

static void run_case(const struct shape *shape)
{
	struct profile *p = make_profile(shape);
	struct arena *arena = arena_create();
	struct entity_tree *tree = entity_tree_of(p, LEVEL_FUNCTION, p->default_metric, arena);

	printf("%s: %s; %zu stack nodes\n", shape->name, shape->what, p->stack_count);
	for (enum step step = 0; step < STEP_COUNT; step++)
		time_step(p, tree, step);
	arena_destroy(arena);
	profile_destroy(p);
}

int main(int argc, char **argv)
{
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		if (argc > 1 && strcmp(argv[1], shapes[i].name) != 0)
			continue;
		run_case(&shapes[i]);
		found = true;
	}
	if (!found)
		fprintf(stderr, "analysis_bench: no such case: %s\n", argv[1]);
	return found ? 0 : 1;
}
