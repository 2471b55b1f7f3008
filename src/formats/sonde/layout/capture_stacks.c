/*
 * STACKS chunks: encodes stack tree nodes in few bytes.
 *
 * Frames are stored separately, because an address occurs in many nodes; nodes refer to them by
 * small ids.  The new frames of a chunk are sorted by object and address before they get ids, so
 * addresses become short differences, and close ids are close in the code.
 *
 * Nodes come in the order of first samples: a new stack is a chain, in which each node is the child
 * of the previous one.  A node takes one code byte, which states whether it continues the chain or
 * begins a new one, and its frame, mostly as a correct guess of the predictor.  After a wrong
 * guess, the frame is stored as the distance from the latest guess (call sites of one function are
 * close), and only if there is no guess, its whole id is stored.  The parent of a chain is mostly
 * an ancestor of the previous node, and takes one byte: the number of levels to go up.
 *
 * Codes, distances, ids and parents are separate columns, because zstd compresses similar data
 * better.
 */
#include "formats/sonde/layout/capture_stacks.h"

#include <assert.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/sort.h"
#include "base/wire.h"
#include "formats/sonde/layout/capture_predictor.h"

enum {
	/* Codes below PREDICTOR_WAYS: the guess with that index. */
	CODE_NEAR = PREDICTOR_WAYS, /* the frame is a distance from the latest guess */
	CODE_WHOLE,		    /* the frame's id is written */
	CODE_CHAIN,		    /* added to a code: not a child of the previous node */

	/* How many levels up a chain's parent is searched for. */
	CLIMB_MAX = 127,
};

enum column {
	COLUMN_CODE,
	COLUMN_NEAR,
	COLUMN_WHOLE_LOW, /* the low byte, which is noise; the upper ones have a pattern */
	COLUMN_WHOLE_HIGH,
	COLUMN_CLIMB,
	COLUMN_PARENT,
	COLUMN_COUNT
};

struct new_frame {
	struct capture_frame frame;
	uint32_t handle;
};

struct capture_stacks_encoder {
	struct map handles; /* (object, obj_addr) → handle, numbered in the order of first use */
	VEC(uint32_t) ids;  /* [handle]; not set yet for new frames */
	uint32_t first_frame; /* first of the waiting ones */
	uint32_t first_node;
	VEC(struct new_frame) frames;
	VEC(struct capture_node) nodes; /* with handles as frames until encoded */
	struct predictor predictor;
	struct strbuf columns[COLUMN_COUNT];
};

struct capture_stacks_encoder *capture_stacks_encoder_create(void)
{
	struct capture_stacks_encoder *e = xalloc(sizeof(*e));

	e->first_node = 1;
	return e;
}

void capture_stacks_encoder_destroy(struct capture_stacks_encoder *e)
{
	if (e == NULL)
		return;
	map_deinit(&e->handles);
	vec_deinit(&e->frames);
	vec_deinit(&e->nodes);
	vec_deinit(&e->ids);
	predictor_deinit(&e->predictor);
	for (int i = 0; i < COLUMN_COUNT; i++)
		strbuf_deinit(&e->columns[i]);
	free(e);
}

uint32_t capture_stacks_frame(struct capture_stacks_encoder *e, struct capture_frame frame)
{
	bool added;
	uint32_t handle =
		*map_at(&e->handles, frame.object, frame.obj_addr, (uint32_t)e->ids.count, &added);

	if (added) {
		vec_push(&e->frames, (struct new_frame){frame, handle});
		vec_push(&e->ids, UINT32_MAX);
	}
	return handle;
}

void capture_stacks_node(
	struct capture_stacks_encoder *e, uint32_t node, uint32_t parent, uint32_t frame)
{
	assert(node == e->first_node + e->nodes.count && parent < node);
	assert(frame < e->ids.count);
	vec_push(&e->nodes, (struct capture_node){parent, frame});
}

size_t capture_stacks_waiting(const struct capture_stacks_encoder *e)
{
	return e->nodes.count;
}

static int new_frame_compare(const void *a, const void *b)
{
	const struct capture_frame *x = &((const struct new_frame *)a)->frame;
	const struct capture_frame *y = &((const struct new_frame *)b)->frame;

	return COMPARE(x->object, y->object) ?: COMPARE(x->obj_addr, y->obj_addr);
}

/* Assigns ids to the new frames. */
static void frames_sort(struct capture_stacks_encoder *e)
{
	if (e->frames.count == 0)
		return;
	qsort(e->frames.data, e->frames.count, sizeof(*e->frames.data), new_frame_compare);
	for (uint32_t i = 0; i < e->frames.count; i++)
		e->ids.data[e->frames.data[i].handle] = e->first_frame + i;
}

/* Writes runs of one object: the object, the number of addresses, the first one, then distances. */
static void frames_encode(const struct capture_stacks_encoder *e, struct strbuf *out)
{
	size_t count = e->frames.count;

	for (size_t i = 0; i < count;) {
		const struct capture_frame *first = &e->frames.data[i].frame;
		uint64_t before = 0;
		size_t end = i;
		while (end < count && e->frames.data[end].frame.object == first->object)
			end++;
		wire_put_uleb(out, first->object);
		wire_put_uleb(out, end - i);
		for (; i < end; i++) {
			uint64_t obj_addr = e->frames.data[i].frame.obj_addr;
			wire_put_uleb(out, obj_addr - before);
			before = obj_addr;
		}
	}
}

/* The number of levels from node `from` up to `parent`; 0: out of reach. */
static uint32_t climb_distance(
	const struct capture_node *nodes, uint32_t first_node, uint32_t from, uint32_t parent)
{
	for (uint32_t up = 1; up <= CLIMB_MAX && from >= first_node; up++) {
		from = nodes[from - first_node].parent;
		if (from == parent)
			return up;
		if (from < parent)
			return 0;
	}
	return 0;
}

static void parent_encode(struct capture_stacks_encoder *e, uint32_t node, uint32_t parent)
{
	uint32_t up = climb_distance(e->nodes.data, e->first_node, node - 1, parent);

	wire_put_uleb(&e->columns[COLUMN_CLIMB], up);
	if (up == 0)
		wire_put_uleb(&e->columns[COLUMN_PARENT], parent);
}

static void whole_encode(struct capture_stacks_encoder *e, uint32_t frame)
{
	strbuf_add_char(&e->columns[COLUMN_WHOLE_LOW], (char)frame);
	wire_put_uleb(&e->columns[COLUMN_WHOLE_HIGH], frame >> 8);
}

/* Returns the code of `frame` below the node `parent`, and adds its other data to the columns. */
static uint32_t frame_encode(struct capture_stacks_encoder *e, uint32_t parent, uint32_t frame)
{
	if (parent < e->first_node) {
		whole_encode(e, frame);
		return CODE_WHOLE;
	}
	uint32_t caller = e->nodes.data[parent - e->first_node].frame;
	struct predictor_context *context = predictor_find(&e->predictor, caller);
	uint32_t code = predictor_way(context, frame);
	if (code == PREDICTOR_WAYS && predictor_known(context)) {
		wire_put_sleb(
			&e->columns[COLUMN_NEAR], (int64_t)frame - (int64_t)context->child[0]);
		code = CODE_NEAR;
	} else if (code == PREDICTOR_WAYS) {
		whole_encode(e, frame);
		code = CODE_WHOLE;
	}
	predictor_learn(context, code < PREDICTOR_WAYS ? code : PREDICTOR_WAYS, frame);
	return code;
}

static void node_encode(struct capture_stacks_encoder *e, uint32_t i)
{
	uint32_t node = e->first_node + i;
	struct capture_node *n = &e->nodes.data[i];

	n->frame = e->ids.data[n->frame];
	uint32_t code = frame_encode(e, n->parent, n->frame);
	/* The first node of a chunk always states its parent. */
	if (i == 0 || n->parent != node - 1) {
		code += CODE_CHAIN;
		parent_encode(e, node, n->parent);
	}
	strbuf_add_char(&e->columns[COLUMN_CODE], (char)code);
}

void capture_stacks_encode(struct capture_stacks_encoder *e, struct strbuf *out)
{
	frames_sort(e);
	wire_put_uleb(out, e->first_frame);
	wire_put_uleb(out, e->frames.count);
	wire_put_uleb(out, e->first_node);
	wire_put_uleb(out, e->nodes.count);
	frames_encode(e, out);
	predictor_begin(&e->predictor, e->first_frame + e->frames.count, e->nodes.count);
	for (uint32_t i = 0; i < e->nodes.count; i++)
		node_encode(e, i);
	for (int i = 0; i < COLUMN_COUNT; i++) {
		wire_put_str(out, strbuf_str(&e->columns[i]));
		strbuf_clear(&e->columns[i]);
	}
	e->first_frame += (uint32_t)e->frames.count;
	e->first_node += (uint32_t)e->nodes.count;
	e->frames.count = 0;
	e->nodes.count = 0;
}

void capture_stacks_deinit(struct capture_stacks *s)
{
	vec_deinit(&s->frames);
	vec_deinit(&s->nodes);
	predictor_deinit(&s->predictor);
}

struct stacks_decoder {
	struct capture_stacks *s;
	struct cursor columns[COLUMN_COUNT];
};

static void frames_decode(struct cursor *c, struct capture_stacks *s, uint64_t count)
{
	while (s->frames.count < count && cursor_ok(c)) {
		struct capture_frame frame = {.object = (uint32_t)cursor_uleb_to(c, UINT32_MAX)};
		uint64_t run = wire_uleb(c);
		if (run == 0 || run > count - s->frames.count)
			cursor_fail(c, "a run of frames has an impossible length");
		for (; run && cursor_ok(c); run--) {
			frame.obj_addr += wire_uleb(c);
			vec_push(&s->frames, frame);
		}
	}
}

static uint32_t parent_decode(struct stacks_decoder *d, uint32_t node)
{
	const struct capture_stacks *s = d->s;
	uint64_t up = wire_uleb(&d->columns[COLUMN_CLIMB]);
	uint32_t at = node - 1;

	if (up == 0)
		return (uint32_t)cursor_uleb_to(&d->columns[COLUMN_PARENT], node - 1);
	if (up > CLIMB_MAX) {
		cursor_fail(&d->columns[COLUMN_CLIMB], "a stack's parent is out of reach");
		return 0;
	}
	for (; up && at >= s->first_node; up--)
		at = s->nodes.data[at - s->first_node].parent;
	if (up)
		cursor_fail(&d->columns[COLUMN_CLIMB], "a stack's parent is out of reach");
	return at;
}

static uint32_t whole_decode(struct stacks_decoder *d)
{
	struct cursor *high = &d->columns[COLUMN_WHOLE_HIGH];
	uint32_t low = cursor_u8(&d->columns[COLUMN_WHOLE_LOW]);
	uint64_t frame = wire_uleb(high) << 8 | low;

	if (frame < UINT32_MAX)
		return (uint32_t)frame;
	cursor_fail(high, "a frame's number is out of range");
	return 0;
}

static uint32_t near_decode(struct stacks_decoder *d, const struct predictor_context *context)
{
	int64_t distance = wire_sleb(&d->columns[COLUMN_NEAR]);
	int64_t base = context->child[0];

	if (predictor_known(context) == 0 || distance < -base ||
		distance >= (int64_t)UINT32_MAX - base) {
		cursor_fail(&d->columns[COLUMN_NEAR], "a frame's number is out of range");
		return 0;
	}
	return (uint32_t)(base + distance);
}

static uint32_t frame_decode(struct stacks_decoder *d, uint32_t parent, uint32_t code)
{
	if (parent < d->s->first_node) {
		if (code != CODE_WHOLE)
			cursor_fail(&d->columns[COLUMN_CODE], "a frame is guessed from nothing");
		return whole_decode(d);
	}
	uint32_t caller = d->s->nodes.data[parent - d->s->first_node].frame;
	struct predictor_context *context = predictor_find(&d->s->predictor, caller);
	uint32_t frame;
	if (code == CODE_NEAR)
		frame = near_decode(d, context);
	else if (code == CODE_WHOLE)
		frame = whole_decode(d);
	else if (code < predictor_known(context))
		frame = context->child[code];
	else {
		cursor_fail(&d->columns[COLUMN_CODE], "a frame is guessed from nothing");
		return 0;
	}
	predictor_learn(context, code < PREDICTOR_WAYS ? code : PREDICTOR_WAYS, frame);
	return frame;
}

static bool columns_ok(const struct stacks_decoder *d)
{
	bool ok = true;

	for (int i = 0; i < COLUMN_COUNT; i++)
		ok &= cursor_ok(&d->columns[i]);
	return ok;
}

static void node_decode(struct stacks_decoder *d)
{
	uint32_t node = d->s->first_node + (uint32_t)d->s->nodes.count;
	uint32_t code = cursor_u8(&d->columns[COLUMN_CODE]);
	struct capture_node n = {.parent = node - 1};

	if (code >= CODE_CHAIN) {
		code -= CODE_CHAIN;
		n.parent = parent_decode(d, node);
	}
	if (code >= CODE_CHAIN)
		cursor_fail(&d->columns[COLUMN_CODE], "a stack has an unknown code");
	if (!columns_ok(d))
		return;
	n.frame = frame_decode(d, n.parent, code);
	vec_push(&d->s->nodes, n);
}

/*
 * A fast path for node after node, without checks: columns are pointers, and a number has at most
 * four bytes, all before its column's end.  Other nodes are left to node_decode, which reports
 * errors.
 */
struct quick {
	const uint8_t *at[COLUMN_COUNT], *most[COLUMN_COUNT]; /* most: fewer than four bytes
							         follow */
	uint32_t chain; /* after this node, each one is the child of the previous one */
};

enum { QUICK_BYTES = 4 };

static inline struct quick quick_begin(const struct stacks_decoder *d)
{
	struct quick q = {.chain = d->s->first_node + (uint32_t)d->s->nodes.count - 1};

	for (int i = 0; i < COLUMN_COUNT; i++) {
		const struct cursor *c = &d->columns[i];
		size_t left = cursor_left(c);

		q.at[i] = c->at;
		q.most[i] = c->at + (left < QUICK_BYTES ? 0 : left - QUICK_BYTES + 1);
	}
	return q;
}

/* Reads a number of up to 28 bits; returns its size, 0: not handled here. */
static inline unsigned int quick_number(struct quick *q, enum column column, uint32_t *value)
{
	const uint8_t *at = q->at[column];
	unsigned int size = 1;

	if (unlikely(at >= q->most[column]))
		return 0;
	for (*value = at[0] & 0x7f; at[size - 1] & 0x80; size++) {
		if (size == QUICK_BYTES)
			return 0;
		*value |= (uint32_t)(at[size] & 0x7f) << 7 * size;
	}
	q->at[column] = at + size;
	return size;
}

static inline bool quick_parent(
	const struct capture_stacks *s, struct quick *q, uint32_t node, uint32_t *parent)
{
	uint32_t up, at = node - 1;

	if (!quick_number(q, COLUMN_CLIMB, &up) || up > CLIMB_MAX)
		return false;
	if (up == 0)
		return quick_number(q, COLUMN_PARENT, parent) && *parent < node;
	if (at < s->first_node)
		return false;
	if (up <= at - q->chain) {
		*parent = at - up;
		return true;
	}
	for (up -= at - q->chain, at = q->chain; up && at >= s->first_node; up--)
		at = s->nodes.data[at - s->first_node].parent;
	*parent = at;
	return up == 0;
}

static inline bool quick_whole(struct quick *q, uint32_t *frame)
{
	const uint8_t *low = q->at[COLUMN_WHOLE_LOW];
	uint32_t high;

	if (low >= q->most[COLUMN_WHOLE_LOW] || !quick_number(q, COLUMN_WHOLE_HIGH, &high) ||
		high >= UINT32_MAX >> 8)
		return false;
	*frame = high << 8 | *low;
	q->at[COLUMN_WHOLE_LOW] = low + 1;
	return true;
}

static inline bool quick_near(struct quick *q, uint32_t base, uint32_t *frame)
{
	uint32_t value;
	unsigned int size = quick_number(q, COLUMN_NEAR, &value);

	if (size == 0)
		return false;
	uint32_t sign = 1u << (7 * size - 1);
	int64_t at = (int64_t)base + (int32_t)((value ^ sign) - sign);
	*frame = (uint32_t)at;
	return at >= 0 && at < UINT32_MAX;
}

/* caller: UINT32_MAX if it is not in the chunk. */
static inline bool quick_frame(
	struct predictor *p, struct quick *q, uint32_t caller, uint32_t code, uint32_t *frame)
{
	if (caller == UINT32_MAX)
		return code == CODE_WHOLE && quick_whole(q, frame);
	struct predictor_context *context = predictor_find(p, caller);
	uint32_t known = predictor_known(context);
	bool is_good;

	if (code < known) {
		*frame = context->child[code];
		is_good = true;
	} else if (code == CODE_NEAR && known) {
		is_good = quick_near(q, context->child[0], frame);
	} else {
		is_good = code == CODE_WHOLE && quick_whole(q, frame);
	}
	if (is_good)
		predictor_learn(context, code < PREDICTOR_WAYS ? code : PREDICTOR_WAYS, *frame);
	return is_good;
}

/* Decodes one node; false: not handled here, and nothing was consumed. */
static inline bool quick_node(struct capture_stacks *s, struct quick *q, struct capture_node *n)
{
	struct quick before = *q;
	uint32_t place = (uint32_t)(n - s->nodes.data), node = s->first_node + place;
	uint32_t code = *q->at[COLUMN_CODE]++, caller = place ? n[-1].frame : UINT32_MAX;

	n->parent = node - 1;
	if (code >= CODE_CHAIN) {
		code -= CODE_CHAIN;
		if (!quick_parent(s, q, node, &n->parent))
			goto left;
		q->chain = node;
		caller = n->parent >= s->first_node ? s->nodes.data[n->parent - s->first_node].frame
						    : UINT32_MAX;
	}
	if (likely(quick_frame(&s->predictor, q, caller, code, &n->frame)))
		return true;
left:
	*q = before;
	return false;
}

/* Decodes nodes up to `count`, or up to one that must be checked. */
static void nodes_decode_quickly(struct stacks_decoder *d, size_t count)
{
	struct capture_stacks *s = d->s;
	struct quick q = quick_begin(d);

	while (s->nodes.count < count && quick_node(s, &q, &s->nodes.data[s->nodes.count]))
		s->nodes.count++;
	for (int i = 0; i < COLUMN_COUNT; i++)
		d->columns[i].at = q.at[i];
}

static struct error *nodes_decode(struct stacks_decoder *d, struct cursor *c, uint64_t count)
{
	struct capture_stacks *s = d->s;

	for (int i = 0; i < COLUMN_COUNT; i++)
		d->columns[i] = wire_column(c);
	if (count > cursor_left(&d->columns[COLUMN_CODE]))
		cursor_fail(c, "more stacks than there are bytes for");
	if (cursor_ok(c)) {
		vec_reserve(&s->nodes, count);
		predictor_begin(&s->predictor, s->first_frame + s->frames.count, count);
	}
	while (cursor_ok(c) && s->nodes.count < count && columns_ok(d)) {
		nodes_decode_quickly(d, count);
		if (s->nodes.count < count)
			node_decode(d);
	}
	struct error *err = cursor_error(c);
	for (int i = 0; i < COLUMN_COUNT && err == NULL; i++)
		err = cursor_error(&d->columns[i]);
	return err;
}

struct error *capture_stacks_decode(struct cursor *payload, struct capture_stacks *s)
{
	struct stacks_decoder d = {.s = s};

	s->frames.count = s->nodes.count = 0;
	s->first_frame = (uint32_t)cursor_uleb_to(payload, UINT32_MAX);
	uint64_t frame_count = cursor_uleb_to(payload, UINT32_MAX - s->first_frame);
	s->first_node = (uint32_t)cursor_uleb_to(payload, UINT32_MAX);
	uint64_t node_count = cursor_uleb_to(payload, UINT32_MAX - s->first_node);
	if (s->first_node == 0)
		cursor_fail(payload, "a stack has the number of the empty stack");
	frames_decode(payload, s, frame_count);
	return nodes_decode(&d, payload, node_count);
}
