/*
 * Boxes of a flame graph, for the page.  See flame_boxes.h.
 *
 * Names are sent once, and boxes have their numbers.  Where recursion goes on in a box above, the
 * box has the number of that one: the first stub below its row knows the row.
 */
#include "page/flame_boxes.h"

void flame_boxes_init(
	struct flame_boxes *b, const struct report *report, size_t most, struct arena *arena)
{
	size_t rows = report->calltree->count, entities = report->tree->entity_count + 1;

	*b = (struct flame_boxes){.report = report,
		.depth = ARENA_ARRAY(arena, uint32_t, most),
		.name = ARENA_ARRAY(arena, uint32_t, most),
		.jump = ARENA_ARRAY(arena, uint32_t, most),
		.start = ARENA_ARRAY(arena, double, most),
		.width = ARENA_ARRAY(arena, double, most),
		.own = ARENA_ARRAY(arena, double, most),
		.used = ARENA_ARRAY(arena, uint32_t, entities),
		.number = ARENA_ARRAY(arena, uint32_t, entities),
		.box_of = ARENA_ARRAY(arena, uint32_t, rows + 1)};
	for (size_t i = 0; i < rows; i++)
		b->box_of[i] = NO_ID;
}

static uint32_t number_of(struct flame_boxes *b, uint32_t entity)
{
	if (b->number[entity] == 0) {
		b->used[b->used_count++] = entity;
		b->number[entity] = b->used_count;
	}
	return b->number[entity] - 1;
}

size_t flame_boxes_add(struct flame_boxes *b, const struct flame_box *box, double own)
{
	size_t i = b->count++;

	b->depth[i] = box->depth;
	b->start[i] = (double)box->start;
	b->width[i] = (double)box->width;
	b->own[i] = own;
	b->jump[i] = b->name[i] = NO_ID;
	if (box->row != NO_ID) {
		b->box_of[box->row] = (uint32_t)i;
		b->name[i] = number_of(b, b->report->calltree->rows[box->row].entity);
	}
	return i;
}

static void fill_jumps(struct flame_boxes *b)
{
	const struct calltree *tree = b->report->calltree;

	for (size_t i = 0; i < tree->count; i++) {
		const struct calltree_row *row = &tree->rows[i];
		uint32_t box =
			row->is_stub && row->parent != NO_ID ? b->box_of[row->parent] : NO_ID;

		if (box != NO_ID && b->jump[box] == NO_ID)
			b->jump[box] = b->box_of[row->target];
	}
}

static void put_names(
	const struct flame_boxes *b, const struct svg_colours *colours, struct reply *reply)
{
	struct strbuf label = {0};

	json_put_key(&reply->json, "names");
	json_put_array(&reply->json);
	for (size_t i = 0; i < b->used_count; i++) {
		const struct entity *e = entity_tree_entity(b->report->tree, b->used[i]);

		json_put_array(&reply->json);
		json_put_string(&reply->json, entity_label_apart(e, &label));
		json_put_string(&reply->json, e->module);
		json_put_unsigned(&reply->json, colours ? svg_colour(colours, e) : 0);
		json_put_end(&reply->json);
	}
	json_put_end(&reply->json);
	strbuf_deinit(&label);
}

void flame_boxes_put(struct flame_boxes *b, const struct svg_colours *colours, struct reply *reply)
{
	fill_jumps(b);
	put_names(b, colours, reply);
	reply_put_u32(reply, "depth", b->depth, b->count);
	reply_put_u32(reply, "name", b->name, b->count);
	reply_put_u32(reply, "jump", b->jump, b->count);
	reply_put_f64(reply, "start", b->start, b->count);
	reply_put_f64(reply, "width", b->width, b->count);
	reply_put_f64(reply, "own", b->own, b->count);
}
