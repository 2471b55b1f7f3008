/*
 * The quadtree.  Bodies are put into the order of the cells, so a cell's are one range; forces are
 * worked out for groups, the cells of few bodies, by walking down the tree as far as a cell looks
 * large from the group.
 */
#include "tree.h"

#include <math.h>
#include <stdlib.h>

#include <prof.h>

enum { GROUP = 16, DEPTH_MAX = 24 };

#define SOFTENING 9.0f

static struct cell *add_cells(struct tree *tree, int count)
{
	if (tree->cell_count + count > tree->cell_room) {
		tree->cell_room = 2 * tree->cell_room + 64;
		tree->cells = realloc(tree->cells, sizeof *tree->cells * (size_t)tree->cell_room);
		if (!tree->cells)
			abort();
	}
	tree->cell_count += count;
	return tree->cells + tree->cell_count - count;
}

/* Puts those below the middle before the others; how many there are. */
static int part(struct body *bodies, int count, int by_x, float middle)
{
	int low = 0;

	for (int i = 0; i < count; i++)
		if ((by_x ? bodies[i].x : bodies[i].y) < middle) {
			struct body swapped = bodies[low];

			bodies[low++] = bodies[i];
			bodies[i] = swapped;
		}
	return low;
}

static void weigh(const struct tree *tree, struct cell *cell)
{
	cell->mass = cell->mass_x = cell->mass_y = 0;
	for (int i = cell->first; i < cell->first + cell->count; i++) {
		const struct body *b = &tree->bodies[i];

		cell->mass += b->mass;
		cell->mass_x += b->mass * b->x;
		cell->mass_y += b->mass * b->y;
	}
	if (cell->mass > 0) {
		cell->mass_x /= cell->mass;
		cell->mass_y /= cell->mass;
	}
}

/* Makes the cell's four children, and theirs. */
static void split(struct tree *tree, int number, int depth)
{
	Prof_Block(split);
	struct cell *cell = &tree->cells[number];
	struct body *bodies = tree->bodies + cell->first;
	int count = cell->count, upper, first = cell->first;
	int sizes[4];

	weigh(tree, cell);
	if (count <= GROUP || depth == DEPTH_MAX)
		return;
	upper = part(bodies, count, 0, cell->y);
	sizes[0] = part(bodies, upper, 1, cell->x);
	sizes[1] = upper - sizes[0];
	sizes[2] = part(bodies + upper, count - upper, 1, cell->x);
	sizes[3] = count - upper - sizes[2];

	struct cell *children = add_cells(tree, 4);

	cell = &tree->cells[number];
	cell->children = (int)(children - tree->cells);
	for (int i = 0; i < 4; i++) {
		float half = cell->half / 2;

		children[i] = (struct cell){.x = cell->x + (i & 1 ? half : -half),
			.y = cell->y + (i & 2 ? half : -half),
			.half = half,
			.first = first,
			.count = sizes[i]};
		first += sizes[i];
	}
	for (int i = 0, child = cell->children; i < 4; i++)
		split(tree, child + i, depth + 1);
}

void tree_build(struct tree *tree, struct body *bodies, int count)
{
	Prof_Block(build_tree);
	float extent = 1;

	for (int i = 0; i < count; i++)
		extent = fmaxf(extent, fmaxf(fabsf(bodies[i].x), fabsf(bodies[i].y)));
	tree->bodies = bodies;
	tree->body_count = count;
	tree->cell_count = 0;
	*add_cells(tree, 1) = (struct cell){.half = extent * 1.01f, .count = count};
	split(tree, 0, 0);
}

static void pull(struct body *b, float x, float y, float mass)
{
	float dx = x - b->x, dy = y - b->y;
	float square = dx * dx + dy * dy + SOFTENING;
	float force = mass / (square * sqrtf(square));

	b->ax += dx * force;
	b->ay += dy * force;
}

/* What that cell does to a group. */
static void attract_group(
	const struct tree *tree, const struct cell *group, const struct cell *cell, float openness)
{
	float dx = fabsf(cell->mass_x - group->x), dy = fabsf(cell->mass_y - group->y);
	float distance = sqrtf(dx * dx + dy * dy) - group->half;
	struct body *from = tree->bodies + group->first;

	if (cell->count == 0)
		return;
	if (2 * cell->half < openness * distance) {
		for (int i = 0; i < group->count; i++)
			pull(&from[i], cell->mass_x, cell->mass_y, cell->mass);
	} else if (cell->children) {
		for (int i = 0; i < 4; i++)
			attract_group(tree, group, &tree->cells[cell->children + i], openness);
	} else {
		for (int i = 0; i < group->count; i++)
			for (int k = cell->first; k < cell->first + cell->count; k++)
				pull(&from[i], tree->bodies[k].x, tree->bodies[k].y,
					tree->bodies[k].mass);
	}
}

/* All groups below a cell. */
static void attract(const struct tree *tree, const struct cell *cell, float openness)
{
	if (cell->count == 0)
		return;
	if (cell->children) {
		Prof_Block(attract);

		for (int i = 0; i < 4; i++)
			attract(tree, &tree->cells[cell->children + i], openness);
	} else {
		Prof_Block(group);

		for (int i = cell->first; i < cell->first + cell->count; i++)
			tree->bodies[i].ax = tree->bodies[i].ay = 0;
		attract_group(tree, cell, &tree->cells[0], openness);
	}
}

/* Every other cell two levels down, where there are sixteen. */
static void attract_half(const struct tree *tree, const struct cell *cell, int levels, int *number,
	int odd, float openness)
{
	if (levels > 0 && cell->children) {
		for (int i = 0; i < 4; i++)
			attract_half(tree, &tree->cells[cell->children + i], levels - 1, number,
				odd, openness);
		return;
	}
	if ((*number)++ % 2 == odd)
		attract(tree, cell, openness);
}

void tree_attract(const struct tree *tree, int odd, float openness)
{
	int number = 0;

	attract_half(tree, &tree->cells[0], 4, &number, odd, openness);
}

double tree_energy(const struct tree *tree)
{
	Prof_Block(energy);
	double energy = 0;

	for (int i = 0; i < tree->body_count; i++) {
		const struct body *a = &tree->bodies[i];

		energy += a->mass * (a->vx * a->vx + a->vy * a->vy) / 2;
		for (int k = 0; k < i; k++) {
			const struct body *b = &tree->bodies[k];
			float dx = a->x - b->x, dy = a->y - b->y;

			energy -= a->mass * b->mass / sqrtf(dx * dx + dy * dy + SOFTENING);
		}
	}
	return energy;
}

void tree_deinit(struct tree *tree)
{
	free(tree->cells);
}
