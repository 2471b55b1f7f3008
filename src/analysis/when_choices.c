/*
 * Lists of choices, as a tree: a list is a node, its parent the list without the last choice.  The
 * children of a node, one for each alternative, are created together in consecutive rows, so a
 * child is found by its number alone, and of two siblings the smaller is left of the other.
 *
 * Most comparisons are of two labels: a node's label represents a range of numbers around it, up to
 * its lowest set bit on both sides, and its children share that range in their order (P. Dietz,
 * "Maintaining order in a linked list", 1982; that nothing is ever put between siblings makes it
 * easy).  When a range is used up, children and everything below have the same label, and such
 * lists are compared by climbing to where they diverge.
 *
 * A collection copies the marked part of the tree from the root, breadth first, with the copies as
 * the queue (C. Cheney, "A nonrecursive list compacting algorithm", 1970).
 */
#include "analysis/when_choices.h"

#include <assert.h>
#include <string.h>

/* There are too many lists at this many times those that were kept. */
#define GROWTH 3

void choices_init(struct choices *c, size_t few)
{
	*c = (struct choices){.few = few, .many = few};
	vec_push(&c->lists, (struct choice){.label = UINT64_C(1) << 63});
}

void choices_deinit(struct choices *c)
{
	vec_deinit(&c->lists);
	vec_deinit(&c->spare);
	vec_deinit(&c->moved);
}

/* The distance between the labels of that many children, around their parent's; 0: no room. */
static uint64_t label_step(uint64_t label, uint32_t children)
{
	int bits = 32 - __builtin_clz(children - 1), room = __builtin_ctzll(label);

	return room < bits ? 0 : UINT64_C(2) << (room - bits);
}

uint32_t choices_add(struct choices *c, uint32_t list, uint32_t alternatives)
{
	struct choice parent = c->lists.data[list];
	size_t first = c->lists.count, last = first + alternatives;

	if (parent.first != 0)
		return parent.first;
	assert(last < UINT32_MAX);
	vec_reserve(&c->lists, last);
	/* Without room it is odd, and stays so: an odd label has none. */
	uint64_t step = label_step(parent.label, alternatives), label = parent.label | 1;
	if (step > 0)
		label = parent.label - (parent.label & -parent.label) + step / 2;
	for (struct choice *child = c->lists.data + first; child < c->lists.data + last; child++) {
		*child = (struct choice){list, 0, label};
		label += step;
	}
	c->lists.data[list].first = (uint32_t)first;
	c->lists.count = last;
	if (last > c->lists_max)
		c->lists_max = last;
	return (uint32_t)first;
}

int choices_compare(struct choices *c, uint32_t a, uint32_t b)
{
	const struct choice *lists = c->lists.data;
	size_t steps = 0;

	if (a == b)
		return 0;
	if (lists[a].label != lists[b].label)
		return lists[a].label < lists[b].label ? -1 : 1;
	/* The larger of two different parents is below the point where the lists diverge. */
	for (; lists[a].parent != lists[b].parent; steps++) {
		if (lists[a].parent > lists[b].parent)
			a = lists[a].parent;
		else
			b = lists[b].parent;
	}
	c->steps += steps;
	return a < b ? -1 : 1;
}

bool choices_are_leftmost(const struct choices *c, uint32_t list)
{
	const struct choice *lists = c->lists.data;

	while (list != CHOICES_NONE && lists[lists[list].parent].first == list)
		list = lists[list].parent;
	return list == CHOICES_NONE;
}

void choices_mark_begin(struct choices *c)
{
	vec_reserve(&c->moved, c->lists.count);
	c->moved.count = c->lists.count;
	memset(c->moved.data, 0, c->moved.count * sizeof(*c->moved.data));
	c->marks = 0;
}

void choices_mark(struct choices *c, uint32_t list)
{
	uint32_t *moved = c->moved.data;

	c->marks++;
	for (; list != CHOICES_NONE && moved[list] == 0; list = c->lists.data[list].parent) {
		moved[list] = 1;
		c->steps++;
	}
}

/* Copies the children of a list if one of them is marked; `parent` is the list's copy. */
static void copy_children(struct choices *c, uint32_t list, uint32_t parent)
{
	const struct choice *lists = c->lists.data;
	uint32_t first = lists[list].first, last = first, marks = 0, to = (uint32_t)c->spare.count;

	c->spare.data[parent].first = 0;
	for (; first != 0 && last < c->lists.count && lists[last].parent == list; last++)
		marks |= c->moved.data[last];
	if (marks == 0)
		return;
	c->spare.data[parent].first = to;
	for (uint32_t i = first; i < last; i++) {
		c->moved.data[i] = to++;
		/* A copy has its original list in `first` until its own children are copied. */
		vec_push(&c->spare, (struct choice){parent, i, lists[i].label});
	}
}

void choices_collect(struct choices *c)
{
	c->spare.count = 0;
	vec_push(&c->spare, c->lists.data[CHOICES_NONE]);
	copy_children(c, CHOICES_NONE, CHOICES_NONE);
	for (uint32_t i = 1; i < c->spare.count; i++)
		copy_children(c, c->spare.data[i].first, i);
	size_t kept = c->spare.count;
	memcpy(c->lists.data, c->spare.data, kept * sizeof(*c->lists.data));
	c->lists.count = kept;
	c->many = GROWTH * kept + c->marks + c->few;
	c->steps += kept + c->marks;
}

uint32_t choices_moved(const struct choices *c, uint32_t list)
{
	return c->moved.data[list];
}
