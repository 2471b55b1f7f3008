/*
 * Colours of a flame graph's boxes.  See colours.h.
 *
 * A colour that depended on the order of load objects would differ between two pictures of one
 * program; one that depended on the name alone would often be that of a neighbour.  So a load
 * object gets the colour that its name asks for, if no heavier one has it, else the next one.
 */
#include "view/svg/colours.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/sort.h"
#include "base/vec.h"

#define ALL_STACKS   0xe9e9e4u
#define KERNEL	     0xeadbc4u
#define UNCHANGED    0xf0efebu
#define MORE	     0xe0662bu
#define LESS	     0x3f6fd8u
#define PALETTE_SIZE 9u

static const uint32_t palette[PALETTE_SIZE] = {
	0x7fb2dc, 0x8cc9a8, 0xe3c27a, 0xc6a3d8, 0xe79a8b, 0x9fb6c9, 0xb6cf87, 0xd8a8bd, 0x86c5c9};

/* part of 256 of `to`, the rest of `from`. */
static uint32_t mix(uint32_t from, uint32_t to, uint32_t part)
{
	uint32_t mixed = 0;

	for (unsigned shift = 0; shift < 24; shift += 8)
		mixed |= ((from >> shift & 0xff) * (256 - part) + (to >> shift & 0xff) * part) / 256
			 << shift;
	return mixed;
}

static uint64_t hash_of(struct str s)
{
	return hash_u64(hash_bytes(s.data, s.size));
}

/* A load object, and the width of the boxes of its functions. */
struct module {
	uint64_t hash, width;
};

/* Gives the heaviest load objects different colours. */
static void choose(struct svg_colours *c, const struct module *modules, size_t count)
{
	struct sort_item *order = xcalloc(count, sizeof(*order));
	bool is_taken[PALETTE_SIZE] = {0}, added;

	for (uint32_t i = 0; i < count; i++)
		order[i] = (struct sort_item){~modules[i].width, i};
	sort_items(order, count);
	for (size_t i = 0; i < count; i++) {
		uint64_t hash = modules[order[i].index].hash;
		uint32_t colour = (uint32_t)(hash % PALETTE_SIZE);

		for (uint32_t k = 0; k < PALETTE_SIZE && i < PALETTE_SIZE && is_taken[colour]; k++)
			colour = (colour + 1) % PALETTE_SIZE;
		is_taken[colour] = true;
		*map_at(&c->modules, hash, 0, 0, &added) = colour;
	}
	free(order);
}

void svg_colours_init(struct svg_colours *c, const struct calltree *tree,
	const struct entity_tree *entities, const struct flame *flame)
{
	VEC(struct module) modules = {0};
	bool added;

	*c = (struct svg_colours){0};
	for (size_t i = 0; i < flame->count; i++) {
		const struct flame_box *box = &flame->boxes[i];

		if (box->row == NO_ID)
			continue;
		struct str name = entities->entities[tree->rows[box->row].entity].module;
		uint64_t hash = hash_of(name.data ? name : STR(""));
		uint32_t at = *map_at(&c->modules, hash, 0, (uint32_t)modules.count, &added);

		if (added)
			vec_push(&modules, (struct module){.hash = hash});
		modules.data[at].width += box->width;
	}
	c->by_function = modules.count < 2;
	choose(c, modules.data, modules.count);
	vec_deinit(&modules);
}

void svg_colours_deinit(struct svg_colours *c)
{
	map_deinit(&c->modules);
}

uint32_t svg_colour(const struct svg_colours *c, const struct entity *entity)
{
	uint32_t colour = 0;
	uint64_t name;

	if (entity == NULL)
		return ALL_STACKS;
	name = hash_of(entity->name);
	if (str_equal(entity->module, STR("[kernel]")))
		return mix(KERNEL, 0xffffff, (uint32_t)(name / PALETTE_SIZE % 64));
	if (c->by_function)
		return palette[name % PALETTE_SIZE];
	(void)map_get(
		&c->modules, hash_of(entity->module.data ? entity->module : STR("")), 0, &colour);
	return mix(palette[colour], 0xffffff, (uint32_t)(name / PALETTE_SIZE % 72));
}

uint32_t svg_colour_of_change(int64_t change, uint64_t now)
{
	uint64_t size = change < 0 ? -(uint64_t)change : (uint64_t)change;
	long double whole = (long double)now + (long double)(change < 0 ? size : 0);
	uint32_t part = 0;

	if (whole > 0)
		part = (uint32_t)((long double)size / whole * 240);
	return mix(UNCHANGED, change < 0 ? LESS : MORE, part < 240 ? part : 240);
}
