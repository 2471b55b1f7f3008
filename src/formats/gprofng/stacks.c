/*
 * Stacks.  A frame packet (11) gives a number to several descriptions of a stack.  The one for
 * machine code is read: a run of addresses, leaf first, with its own number.  A run may be
 * compressed, and then ends in the number of another run, which continues it; it may be omitted if
 * it occurred before.  A packet 17 is just a run.
 *
 * So runs form a forest, and each is added once, below the stack of the run it links to.
 *
 * Source: gprofng/src/data_pckts.h and Experiment::readPacket of binutils.
 */
#include "formats/gprofng/stacks.h"

#include <stdlib.h>

#include "base/word.h"

enum { INFO_STACK = 1, FRAME_HEAD = 16, INFO_HEAD = 16, UID_HEAD = 16 };
#define INFO_COMPRESSED 0x80000000u

/* Special addresses: a leaf function was seen, the stack was truncated, it could not be walked. */
#define MARK_LEAF   UINT64_MAX
#define MARK_CUT    (UINT64_MAX - 1)
#define MARK_FAILED (UINT64_MAX - 2)

enum node_state { NODE_NEW, NODE_ENTERED, NODE_DONE };

static uint64_t mark_of(uint64_t address, size_t size)
{
	return size == 4 && address >= UINT32_MAX - 2 ? address | ~(uint64_t)UINT32_MAX : address;
}

/* Adds a run: its addresses and, if it is compressed, a link. */
static void add_run(struct gprofng_stacks *s, struct gprofng_names *names, uint64_t uid,
	const uint8_t *data, size_t size, size_t address_size, bool is_compressed)
{
	struct gprofng_node node = {.first = (uint32_t)s->addresses.count};
	uint32_t known;

	if (map_get(&s->node_of, uid, 0, &known))
		return;
	if (is_compressed && size >= 8) {
		size -= 8;
		node.link = word_read(data + size, 8, false);
	}
	for (size_t at = 0; at + address_size <= size; at += address_size) {
		uint64_t va = mark_of(word_read(data + at, address_size, false), address_size);
		node.is_cut |= va == MARK_CUT || va == MARK_FAILED;
		if (va < MARK_FAILED)
			vec_push(&s->addresses, gprofng_names_add(names, va));
	}
	node.count = (uint32_t)s->addresses.count - node.first;
	map_put(&s->node_of, uid, 0, (uint32_t)s->nodes.count);
	vec_push(&s->nodes, node);
}

/* Reads the parts of a frame packet: size (4 bytes), kind (4), number (8), data. */
static void read_frame(struct gprofng_stacks *s, struct gprofng_names *names,
	const struct gprofng_packet *p, size_t address_size)
{
	size_t at, size;

	if (p->size < FRAME_HEAD) {
		s->bad++;
		return;
	}
	uint64_t frinfo = word_read(p->data + 8, 8, false);
	at = (size_t)word_read(p->data + 4, 4, false);
	for (; at <= p->size && p->size - at >= INFO_HEAD; at += size) {
		const uint8_t *info = p->data + at;
		uint32_t kind = (uint32_t)word_read(info + 4, 4, false);
		uint64_t uid = word_read(info + 8, 8, false);
		size = (size_t)word_read(info, 4, false);
		if (size < 8 || size > p->size - at)
			break;
		if ((kind & ~INFO_COMPRESSED) != INFO_STACK || size < INFO_HEAD)
			continue;
		if (size > INFO_HEAD)
			add_run(s, names, uid, info + INFO_HEAD, size - INFO_HEAD, address_size,
				(kind & INFO_COMPRESSED) != 0);
		uint32_t is_there;
		if (!map_get(&s->run_of, frinfo, 0, &is_there)) {
			map_put(&s->run_of, frinfo, 0, (uint32_t)s->runs.count);
			vec_push(&s->runs, uid);
		}
	}
}

/* Reads size and kind, flags (4 bytes), the run's number (8). */
static void read_uid(struct gprofng_stacks *s, struct gprofng_names *names,
	const struct gprofng_packet *p, size_t address_size)
{
	if (p->size < UID_HEAD)
		s->bad++;
	else if (p->size > UID_HEAD)
		add_run(s, names, word_read(p->data + 8, 8, false), p->data + UID_HEAD,
			p->size - (size_t)UID_HEAD, address_size,
			(word_read(p->data + 4, 4, false) & INFO_COMPRESSED) != 0);
}

void gprofng_stacks_read(struct gprofng_stacks *s, const struct file_bytes *bytes,
	size_t address_size, struct gprofng_names *names)
{
	struct gprofng_packets packets;
	struct gprofng_packet p;

	*s = (struct gprofng_stacks){0};
	gprofng_packets_init(&packets, bytes);
	while (gprofng_packets_next(&packets, &p)) {
		if (p.kind == PACKET_FRAME)
			read_frame(s, names, &p, address_size);
		else if (p.kind == PACKET_UID)
			read_uid(s, names, &p, address_size);
	}
	s->bad += packets.bad;
}

/* What building stacks needs. */
struct build {
	struct gprofng_stacks *stacks;
	const struct gprofng_names *names;
	struct builder *builder;
};

static stack_id build_run(const struct build *b, const struct gprofng_node *node, stack_id stack)
{
	for (uint32_t i = node->count; i > 0; i--) {
		struct gprofng_frames f = gprofng_names_frames(
			b->names, b->stacks->addresses.data[node->first + i - 1]);
		for (uint32_t k = 0; k < f.count; k++)
			stack = builder_stack(b->builder, stack, f.frames[k]);
	}
	return stack;
}

static struct gprofng_node *node_at(const struct gprofng_stacks *s, uint64_t uid)
{
	uint32_t i;

	return uid && map_get(&s->node_of, uid, 0, &i) ? &s->nodes.data[i] : NULL;
}

/* Builds a node after all nodes outside it, from the outermost inwards. */
static void build_node(const struct build *b, struct gprofng_node *node)
{
	struct gprofng_stacks *s = b->stacks;
	VEC(struct gprofng_node *) path = {0};
	stack_id stack = {0};
	bool is_cut = false;

	for (; node && node->state == NODE_NEW; node = node_at(s, node->link)) {
		node->state = NODE_ENTERED;
		vec_push(&path, node);
	}
	/* A node that is entered links to itself through others, which is invalid. */
	if (node && node->state == NODE_DONE) {
		stack = node->stack;
		is_cut = node->is_cut;
	}
	s->bad += node && node->state == NODE_ENTERED;
	while (path.count) {
		struct gprofng_node *next = path.data[--path.count];
		stack = build_run(b, next, stack);
		is_cut |= next->is_cut;
		next->stack = stack;
		next->is_cut = is_cut;
		next->state = NODE_DONE;
	}
	vec_deinit(&path);
}

void gprofng_stacks_build(
	struct gprofng_stacks *s, const struct gprofng_names *names, struct builder *builder)
{
	const struct build b = {s, names, builder};

	for (size_t i = 0; i < s->nodes.count; i++) {
		if (s->nodes.data[i].state == NODE_NEW)
			build_node(&b, &s->nodes.data[i]);
		s->truncated += s->nodes.data[i].is_cut;
	}
}

bool gprofng_stacks_find(const struct gprofng_stacks *s, uint64_t frinfo, stack_id *stack)
{
	uint32_t run;

	if (!map_get(&s->run_of, frinfo, 0, &run))
		return false;
	const struct gprofng_node *node = node_at(s, s->runs.data[run]);
	if (node == NULL)
		return false;
	*stack = node->stack;
	return true;
}

void gprofng_stacks_deinit(struct gprofng_stacks *s)
{
	vec_deinit(&s->nodes);
	vec_deinit(&s->addresses);
	vec_deinit(&s->runs);
	map_deinit(&s->node_of);
	map_deinit(&s->run_of);
}
