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
#include "page/flame_boxes.h"
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

/* The width of the widest box that is left out; 0: all are shown. */
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

/* The further columns of a difference. */
struct change_columns {
	uint32_t *colour, *mark;
	double *old, *now, *own_old, *own_now;
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

/* What was spent in a row alone; 0 for the box of all stacks. */
static double own_of(const struct side *side, uint32_t row)
{
	return row == NO_ID ? 0 : (double)side->tree->rows[row].in_only;
}

static void fill(struct change_columns *c, size_t i, const struct report *report,
	const struct side sides[2], uint32_t row)
{
	int64_t old = sides[0].weight[place_of(row)], now = sides[1].weight[place_of(row)];

	c->old[i] = (double)old;
	c->now[i] = (double)now;
	c->own_old[i] = own_of(&sides[0], row);
	c->own_now[i] = own_of(&sides[1], row);
	c->mark[i] = mark_of(report, sides, row);
	c->colour[i] = svg_colour_of_change(now - old, now < 0 ? -(uint64_t)now : (uint64_t)now);
}

void put_change_boxes(
	struct reply *reply, const struct report *report, bool is_by_old, size_t limit)
{
	struct arena *arena = arena_create();
	const struct side sides[2] = {
		side_of(report, DIFFERENCE_OLD, arena), side_of(report, DIFFERENCE_NEW, arena)};
	const struct side *wide = &sides[is_by_old ? 0 : 1];
	size_t count = wide->flame->count;
	uint64_t least = widest_left_out(wide->flame, limit, arena);
	struct change_columns c = {ARENA_ARRAY(arena, uint32_t, count),
		ARENA_ARRAY(arena, uint32_t, count), ARENA_ARRAY(arena, double, count),
		ARENA_ARRAY(arena, double, count), ARENA_ARRAY(arena, double, count),
		ARENA_ARRAY(arena, double, count)};
	struct flame_boxes boxes;

	flame_boxes_init(&boxes, report, count, arena);
	for (size_t i = 0; i < count; i++) {
		const struct flame_box *box = &wide->flame->boxes[i];

		if (box->row == NO_ID || box->width > least)
			fill(&c, flame_boxes_add(&boxes, box, own_of(wide, box->row)), report,
				sides, box->row);
	}
	reply_put_number(reply, "total", wide->flame->boxes[0].width);
	reply_put_number(reply, "depth", wide->flame->depth_max);
	reply_put_number(reply, "left_out", count - boxes.count);
	reply_put_number(reply, "least", least);
	reply_put_number(reply, "colour", svg_colour_of_change(0, 0));
	flame_boxes_put(&boxes, NULL, reply);
	reply_put_u32(reply, "colour", c.colour, boxes.count);
	reply_put_u32(reply, "mark", c.mark, boxes.count);
	reply_put_f64(reply, "old", c.old, boxes.count);
	reply_put_f64(reply, "now", c.now, boxes.count);
	reply_put_f64(reply, "own_old", c.own_old, boxes.count);
	reply_put_f64(reply, "own_now", c.own_now, boxes.count);
	arena_destroy(arena);
}
