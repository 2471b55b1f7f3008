/*
 * The flame graph of a difference, for the page.  See change_boxes.h.
 *
 * The tree of a difference has the rows of both profiles, so both are laid out, and the boxes of
 * one get the figures of the other by row.  A collapsed tree's box is as wide as what was spent in
 * and below it; chance is tested for the row's own figure, direct + indirect, so a box whose width
 * is another figure has no mark.
 */
#include "page/change_boxes.h"

#include "analysis/flame.h"
#include "base/sort.h"
#include "view/difference.h"
#include "view/svg/colours.h"

/* One profile's side of the difference. */
struct side {
	const struct calltree *tree;
	const struct flame *flame;
	int64_t *weight; /* [row + 1]: in it or under it; [0] of all stacks */
};

static size_t place_of(uint32_t row)
{
	return row == NO_ID ? 0 : (size_t)row + 1;
}

static struct side side_of(const struct report *report, size_t which, struct arena *arena)
{
	const struct calltree *tree = report->calltree->others[which];
	struct side side = {.tree = tree,
		.flame = flame_lay_out(tree, tree, arena),
		.weight = ARENA_ARRAY(arena, int64_t, tree->count + 1)};

	for (size_t i = 0; i < side.flame->count; i++)
		side.weight[place_of(side.flame->boxes[i].row)] = side.flame->boxes[i].weight;
	return side;
}

/* No box that is wider is left out, and none of that width is shown; 0: all are shown. */
static uint64_t widest_left_out(const struct flame *flame, size_t limit, struct arena *arena)
{
	struct sort_item *items;

	if (limit == 0 || flame->count <= limit)
		return 0;
	items = ARENA_ARRAY(arena, struct sort_item, flame->count);
	for (size_t i = 0; i < flame->count; i++)
		items[i] = (struct sort_item){~flame->boxes[i].width, (uint32_t)i};
	sort_items(items, flame->count);
	return ~items[limit].key;
}

struct columns {
	uint32_t *depth, *name, *jump, *colour, *mark;
	double *start, *width, *own, *old, *now, *own_old, *own_now;
	size_t count;
};

static uint32_t mark_of(const struct report *report, const struct side sides[2], uint32_t row)
{
	if (report->marks == NULL || row == NO_ID)
		return NO_ID;
	for (size_t k = 0; k < 2; k++) {
		const struct calltree_row *r = &sides[k].tree->rows[row];

		if (r->direct + r->indirect != sides[k].weight[place_of(row)])
			return NO_ID;
	}
	return report->marks[row];
}

static void fill(struct columns *c, const struct report *report, const struct flame_box *box,
	const struct side sides[2], bool is_by_old)
{
	size_t i = c->count++, at = place_of(box->row);
	int64_t old = sides[0].weight[at], now = sides[1].weight[at];

	c->depth[i] = box->depth;
	c->start[i] = (double)box->start;
	c->width[i] = (double)box->width;
	c->old[i] = (double)old;
	c->now[i] = (double)now;
	c->jump[i] = c->name[i] = NO_ID;
	c->mark[i] = mark_of(report, sides, box->row);
	c->colour[i] = svg_colour_of_change(now - old, now < 0 ? -(uint64_t)now : (uint64_t)now);
	if (box->row == NO_ID)
		return;
	c->own_old[i] = (double)sides[0].tree->rows[box->row].in_only;
	c->own_now[i] = (double)sides[1].tree->rows[box->row].in_only;
	c->own[i] = is_by_old ? c->own_old[i] : c->own_now[i];
}

/* The first stub below a row gives the box where its recursion goes on. */
static void fill_jumps(struct columns *c, const struct calltree *tree, const uint32_t *box_of)
{
	for (size_t i = 0; i < tree->count; i++) {
		const struct calltree_row *row = &tree->rows[i];

		if (row->is_stub && row->parent != NO_ID && box_of[row->parent] != NO_ID &&
			c->jump[box_of[row->parent]] == NO_ID)
			c->jump[box_of[row->parent]] = box_of[row->target];
	}
}

static void put_columns(struct reply *reply, const struct columns *c)
{
	reply_put_u32(reply, "depth", c->depth, c->count);
	reply_put_u32(reply, "name", c->name, c->count);
	reply_put_u32(reply, "jump", c->jump, c->count);
	reply_put_u32(reply, "colour", c->colour, c->count);
	reply_put_u32(reply, "mark", c->mark, c->count);
	reply_put_f64(reply, "start", c->start, c->count);
	reply_put_f64(reply, "width", c->width, c->count);
	reply_put_f64(reply, "own", c->own, c->count);
	reply_put_f64(reply, "old", c->old, c->count);
	reply_put_f64(reply, "now", c->now, c->count);
	reply_put_f64(reply, "own_old", c->own_old, c->count);
	reply_put_f64(reply, "own_now", c->own_now, c->count);
}

static void put_number(struct reply *reply, const char *key, uint64_t number)
{
	json_put_key(&reply->json, key);
	json_put_unsigned(&reply->json, number);
}

void put_entities(struct reply *reply, const struct report *report,
	const struct svg_colours *colours, const uint32_t *used, size_t count)
{
	json_put_key(&reply->json, "names");
	json_put_array(&reply->json);
	for (size_t i = 0; i < count; i++) {
		const struct entity *e = entity_tree_entity(report->tree, used[i]);
		struct strbuf label = {0};

		json_put_array(&reply->json);
		json_put_string(&reply->json, entity_label(e, &label));
		json_put_string(&reply->json, e->module);
		json_put_unsigned(&reply->json, colours ? svg_colour(colours, e) : 0);
		json_put_end(&reply->json);
		strbuf_deinit(&label);
	}
	json_put_end(&reply->json);
}

static struct columns columns_of(size_t count, struct arena *arena)
{
	return (struct columns){.depth = ARENA_ARRAY(arena, uint32_t, count),
		.name = ARENA_ARRAY(arena, uint32_t, count),
		.jump = ARENA_ARRAY(arena, uint32_t, count),
		.colour = ARENA_ARRAY(arena, uint32_t, count),
		.mark = ARENA_ARRAY(arena, uint32_t, count),
		.start = ARENA_ARRAY(arena, double, count),
		.width = ARENA_ARRAY(arena, double, count),
		.own = ARENA_ARRAY(arena, double, count),
		.old = ARENA_ARRAY(arena, double, count),
		.now = ARENA_ARRAY(arena, double, count),
		.own_old = ARENA_ARRAY(arena, double, count),
		.own_now = ARENA_ARRAY(arena, double, count)};
}

void put_change_boxes(
	struct reply *reply, const struct report *report, bool is_by_old, size_t limit)
{
	struct arena *arena = arena_create();
	const struct calltree *tree = report->calltree;
	const struct side sides[2] = {
		side_of(report, DIFFERENCE_OLD, arena), side_of(report, DIFFERENCE_NEW, arena)};
	const struct flame *flame = sides[is_by_old ? 0 : 1].flame;
	uint64_t least = widest_left_out(flame, limit, arena);
	struct columns c = columns_of(flame->count, arena);
	uint32_t *number = ARENA_ARRAY(arena, uint32_t, report->tree->entity_count + 1),
		 *used = ARENA_ARRAY(arena, uint32_t, report->tree->entity_count + 1),
		 *box_of = ARENA_ARRAY(arena, uint32_t, tree->count + 1), names = 0;

	for (size_t i = 0; i < tree->count; i++)
		box_of[i] = NO_ID;
	for (size_t i = 0; i < flame->count; i++) {
		const struct flame_box *box = &flame->boxes[i];
		uint32_t entity;

		if (box->row != NO_ID && box->width <= least)
			continue;
		fill(&c, report, box, sides, is_by_old);
		if (box->row == NO_ID)
			continue;
		box_of[box->row] = (uint32_t)c.count - 1;
		entity = tree->rows[box->row].entity;
		if (number[entity] == 0) {
			used[names++] = entity;
			number[entity] = names;
		}
		c.name[c.count - 1] = number[entity] - 1;
	}
	fill_jumps(&c, tree, box_of);
	put_number(reply, "total", flame->boxes[0].width);
	put_number(reply, "depth", flame->depth_max);
	put_number(reply, "left_out", flame->count - c.count);
	put_number(reply, "least", least);
	put_number(reply, "colour", svg_colour_of_change(0, 0));
	put_entities(reply, report, NULL, used, names);
	put_columns(reply, &c);
	arena_destroy(arena);
}
