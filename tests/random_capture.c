/*
 * Recordings made up at random.  See random_capture.h.
 */
#include "random_capture.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"

static uint64_t next(struct random_capture *r)
{
	r->state += 0x9e3779b97f4a7c15u;
	return hash_u64(r->state);
}

uint64_t random_capture_below(struct random_capture *r, uint64_t limit)
{
	return limit ? next(r) % limit : 0;
}

/* 0, 1, 2 …, each half as likely as the one before, to limit - 1. */
static uint32_t skewed_below(struct random_capture *r, uint32_t limit)
{
	uint64_t bits = next(r);
	uint32_t value = bits ? (uint32_t)__builtin_ctzll(bits) : 0;

	return value < limit ? value : (uint32_t)random_capture_below(r, limit);
}

static void make_function(struct random_capture *r, uint32_t i, uint64_t *end)
{
	struct random_function *f = &r->functions[i];
	uint32_t object = i % r->options.objects;

	f->object = object;
	f->obj_addr = end[object];
	f->size = 32 + (uint32_t)random_capture_below(r, 64u << random_capture_below(r, 6));
	f->call_count = 1 + (uint32_t)random_capture_below(r, ARRAY_SIZE(f->calls));
	for (uint32_t k = 0; k < f->call_count; k++) {
		f->calls[k].site = 5 + (uint32_t)random_capture_below(r, f->size - 5);
		f->calls[k].callee = (uint32_t)random_capture_below(r, r->options.functions);
	}
	/* What is sampled is a small part of what there is. */
	end[object] += f->size + random_capture_below(r, 4096);
}

void random_capture_init(struct random_capture *r, const struct random_capture_options *options)
{
	*r = (struct random_capture){.options = *options, .state = options->seed};
	r->functions = xcalloc(options->functions, sizeof(*r->functions));
	r->threads = xcalloc(options->threads, sizeof(*r->threads));
	vec_push(&r->nodes, (struct random_node){0});
	uint64_t *end = xcalloc(options->objects, sizeof(*end));
	for (uint32_t i = 0; i < options->objects; i++)
		end[i] = 0x1000;
	for (uint32_t i = 0; i < options->functions; i++)
		make_function(r, i, end);
	free(end);
}

void random_capture_deinit(struct random_capture *r)
{
	for (uint32_t i = 0; i < r->options.threads; i++)
		vec_deinit(&r->threads[i].stack);
	free(r->threads);
	free(r->functions);
	map_deinit(&r->node_of);
	vec_deinit(&r->nodes);
	vec_deinit(&r->samples);
}

void random_capture_begin(struct random_capture *r, struct capture_writer *w)
{
	char name[64];

	capture_writer_metric(w, 0, STR("cpu-time"), STR("ns"));
	capture_writer_string(w, CAPTURE_COMMAND, (struct str){"./prog\0-x", 10});
	capture_writer_string(w, CAPTURE_HOST, STR("nowhere"));
	capture_writer_number(w, CAPTURE_INTERVAL_NS, r->options.interval_ns);
	for (uint32_t i = 0; i < r->options.objects; i++) {
		snprintf(name, sizeof(name), "/nowhere/lib%u.so", i);
		capture_writer_object(
			w, i, str_from(name), STR("0123456789abcdef"), CAPTURE_OBJECT_USER);
	}
	capture_writer_process(w, 0, 1000, CAPTURE_NO_ID, 0, STR("prog"));
	for (uint32_t i = 0; i < r->options.threads; i++)
		capture_writer_thread(w, i, 0, 1000 + i, 0, STR("prog"));
}

static uint32_t find_node(struct random_capture *r, struct capture_writer *w, uint32_t parent,
	uint32_t function, uint64_t obj_addr)
{
	bool added;
	uint32_t object = r->functions[function].object;
	uint32_t node = *map_at(
		&r->node_of, parent, hash_pair(object, obj_addr), (uint32_t)r->nodes.count, &added);

	if (added) {
		vec_push(&r->nodes, (struct random_node){parent, function, obj_addr});
		capture_writer_node(w, node, parent, object, obj_addr);
	}
	return node;
}

/* Returns from some frames, then calls about as many. */
static void walk(struct random_capture *r, struct random_thread *t)
{
	uint32_t turnover = r->options.turnover, target = r->options.depth;
	size_t pops = random_capture_below(r, 2 * turnover + 1);
	size_t pushes = random_capture_below(r, 2 * turnover + 1);

	if (pops > t->stack.count)
		pops = t->stack.count;
	t->stack.count -= pops;
	if (t->stack.count + pushes > target + target / 2)
		pushes = target + target / 2 - t->stack.count;
	if (t->stack.count + pushes < target / 2 + 1)
		pushes = target / 2 + 1 - t->stack.count;
	for (; pushes; pushes--) {
		uint32_t function = 0;
		if (t->stack.count) {
			struct random_level *top = &t->stack.data[t->stack.count - 1];
			const struct random_function *f = &r->functions[top->function];
			const struct random_call *call = &f->calls[skewed_below(r, f->call_count)];
			top->obj_addr = f->obj_addr + call->site;
			function = call->callee;
		}
		vec_push(&t->stack, (struct random_level){.function = function});
	}
}

static uint32_t intern(struct random_capture *r, struct capture_writer *w, struct random_thread *t)
{
	uint32_t node = 0;

	if (t->stack.count) {
		struct random_level *leaf = &t->stack.data[t->stack.count - 1];
		const struct random_function *f = &r->functions[leaf->function];
		leaf->obj_addr = f->obj_addr + random_capture_below(r, f->size) / 4 * 4;
	}
	for (size_t i = 0; i < t->stack.count; i++) {
		struct random_level *level = &t->stack.data[i];
		node = find_node(r, w, node, level->function, level->obj_addr);
		level->node = node;
	}
	return node;
}

void random_capture_run(struct random_capture *r, struct capture_writer *w, uint64_t samples)
{
	const struct random_capture_options *o = &r->options;

	for (; samples; samples--) {
		uint64_t number = r->samples.count;
		struct random_sample s = {.thread = (uint32_t)(number % o->threads)};
		struct random_thread *t = &r->threads[s.thread];
		walk(r, t);
		s.node = intern(r, w, t);
		s.weight = o->interval_ns;
		s.time_ns = (number + 1) * o->interval_ns / o->threads +
			    random_capture_below(r, o->jitter_ns + 1);
		capture_writer_sample(w, s.time_ns, s.thread, s.node, s.zone, 0, &s.weight);
		capture_writer_flush(w, s.time_ns + 1000000000);
		vec_push(&r->samples, s);
	}
}

uint32_t random_capture_line(const struct random_capture *r, uint32_t function, uint64_t obj_addr)
{
	return function + (uint32_t)(obj_addr - r->functions[function].obj_addr) / 16;
}

void random_capture_symbols(struct random_capture *r, struct capture_writer *w)
{
	struct map seen = {0};
	char name[32];

	for (size_t i = 1; i < r->nodes.count; i++) {
		bool added;
		const struct random_node *n = &r->nodes.data[i];
		uint32_t object = r->functions[n->function].object;
		map_at(&seen, object, n->obj_addr, 0, &added);
		if (!added)
			continue;
		snprintf(name, sizeof(name), "f%u", n->function);
		struct capture_symbol_frame frame = {.function = str_from(name),
			.file = STR("f.c"),
			.function_file = STR("f.c"),
			.line = random_capture_line(r, n->function, n->obj_addr),
			.function_line = n->function};
		capture_writer_symbol(w, object, n->obj_addr, &frame, 1);
	}
	map_deinit(&seen);
}
