/*
 * Figures of one function by place and by instruction.
 *
 * One walk over the stack tree finds the place and the instruction of each stack's innermost frame,
 * and whether this frame is the outermost one there in its stack, by counting how often each place
 * and instruction is on the path.  All stacks below such an outermost frame pass it, so the sum of
 * their weights counts each stack once.  This gives the set semantics under recursion, for any
 * number of metrics, in linear time.
 */
#include "analysis/annotate.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/search.h"

/* Properties of a stack's innermost frame. */
enum {
	IS_OWN = 1,	       /* the function's own frame */
	IS_CODE = 2,	       /* in the function's own code, with functions inlined there */
	FIRST_OWN = 4,	       /* the outermost of the function's in its stack */
	FIRST_CODE = 8,	       /* … of those that are not inlined */
	FIRST_INLINED = 16,    /* … of those that are inlined */
	FIRST_AT_PLACE = 32,   /* … of those at its place */
	FIRST_AT_ADDRESS = 64, /* … of those at its instruction */
};

struct spot {
	uint32_t place, address; /* NO_ID: none */
	uint8_t flags;
};

struct annotator {
	const struct profile *profile;
	const struct stack_weights *stacks;
	function_id function;
	const struct annotate_code *code;
	size_t code_count;

	struct spot *spots; /* [stack] */
	bool *passed;	    /* [stack] */
	struct map place_index, address_index;
	VEC(struct annotate_place) places;
	VEC(uint64_t) addresses;
	/* [place], [address]: the number of frames there on the path. */
	VEC(uint32_t) on_place, on_address;
	uint32_t on_own, on_code, on_inlined;
};

size_t annotate_code_at(const struct annotate_code *code, size_t code_count, uint64_t obj_addr)
{
	size_t next = partition_point(i, 0, code_count, code[i].obj_addr <= obj_addr);

	if (next == 0 || obj_addr - code[next - 1].obj_addr >= code[next - 1].size)
		return code_count;
	return next - 1;
}

static uint32_t place_intern(struct annotator *a, uint32_t parent, const struct frame *frame)
{
	struct annotate_place place = {.parent = parent,
		.function = frame->function,
		.file = frame->file,
		.line = frame->line,
		.depth = parent == NO_ID ? 0 : a->places.data[parent].depth + 1};
	uint64_t where = ((uint64_t)frame->file.i << 32) | frame->line;
	uint64_t who = ((uint64_t)parent << 32) | frame->function.i;
	bool added;
	uint32_t index = *map_at(&a->place_index, who, where, (uint32_t)a->places.count, &added);

	if (added) {
		vec_push(&a->places, place);
		vec_push(&a->on_place, 0);
	}
	return index;
}

static uint32_t address_intern(struct annotator *a, uint64_t obj_addr)
{
	size_t at = annotate_code_at(a->code, a->code_count, obj_addr);
	bool added;

	if (obj_addr == 0)
		return NO_ID;
	if (at < a->code_count)
		obj_addr = a->code[at].obj_addr;
	uint32_t index =
		*map_at(&a->address_index, obj_addr, 0, (uint32_t)a->addresses.count, &added);

	if (added) {
		vec_push(&a->addresses, obj_addr);
		vec_push(&a->on_address, 0);
	}
	return index;
}

/* The function's own frame: a line of it and, unless it is inlined, an instruction. */
static struct spot spot_own(struct annotator *a, const struct frame *frame, struct spot outer)
{
	struct spot spot = {.place = place_intern(a, NO_ID, frame), .address = NO_ID};

	spot.flags = IS_OWN | (a->on_own == 0 ? FIRST_OWN : 0);
	if (frame->is_inline) {
		spot.flags |= a->on_inlined == 0 ? FIRST_INLINED : 0;
		spot.flags |= outer.flags & IS_CODE;
		spot.address = outer.address;
	} else {
		spot.flags |= IS_CODE | (a->on_code == 0 ? FIRST_CODE : 0);
		spot.address = address_intern(a, frame->obj_addr);
		if (spot.address != NO_ID && a->on_address.data[spot.address] == 0)
			spot.flags |= FIRST_AT_ADDRESS;
	}
	return spot;
}

/* outer: the spot of the next outer frame. */
static struct spot spot_of(struct annotator *a, const struct frame *frame, struct spot outer)
{
	struct spot spot = {.place = NO_ID, .address = NO_ID};

	if (frame->function.i == a->function.i) {
		spot = spot_own(a, frame, outer);
	} else if (frame->is_inline && outer.place != NO_ID) {
		spot.place = place_intern(a, outer.place, frame);
		spot.address = outer.address;
		spot.flags = outer.flags & IS_CODE;
	}
	if (spot.place != NO_ID && a->on_place.data[spot.place] == 0)
		spot.flags |= FIRST_AT_PLACE;
	return spot;
}

/* Counts a frame that enters or leaves the path. */
static void count_frame(struct annotator *a, uint32_t stack, uint32_t by)
{
	const struct spot *spot = &a->spots[stack];
	bool is_inline = a->profile->frames[a->profile->stack_frame[stack].i].is_inline;

	if (spot->place != NO_ID)
		a->on_place.data[spot->place] += by;
	if (!(spot->flags & IS_OWN))
		return;
	a->on_own += by;
	if (is_inline) {
		a->on_inlined += by;
		return;
	}
	a->on_code += by;
	if (spot->address != NO_ID)
		a->on_address.data[spot->address] += by;
}

static void leave(void *context, uint32_t stack)
{
	count_frame(context, stack, UINT32_MAX);
}

static void find_spots(struct annotator *a)
{
	const struct profile *p = a->profile;
	struct stack_walk walk;
	uint32_t stack;

	a->spots[0] = (struct spot){.place = NO_ID, .address = NO_ID};
	stack_walk_init(&walk, p, a->stacks);
	while ((stack = stack_walk_next(&walk, leave, a)) != NO_ID) {
		uint32_t parent = stack_weights_parent(a->stacks, p, stack);

		a->spots[stack] = (struct spot){.place = NO_ID, .address = NO_ID};
		if (a->passed[stack])
			a->spots[stack] =
				spot_of(a, &p->frames[p->stack_frame[stack].i], a->spots[parent]);
		count_frame(a, stack, 1);
	}
	stack_walk_deinit(&walk);
}

/* ---- figures ---- */

static void add_stack(struct annotation *result, const struct spot *spot, int64_t weight,
	int64_t below, struct annotate_figures *places, struct annotate_figures *addresses)
{
	if (spot->flags & IS_OWN)
		result->own.exclusive += weight;
	if (spot->flags & IS_CODE)
		result->code.exclusive += weight;
	if (spot->flags & FIRST_OWN)
		result->own.inclusive += below;
	if (spot->flags & FIRST_CODE)
		result->code.inclusive += below;
	if (spot->flags & FIRST_INLINED)
		result->inlined_inclusive += below;
	if (spot->place != NO_ID) {
		places[spot->place].exclusive += weight;
		places[spot->place].inclusive += spot->flags & FIRST_AT_PLACE ? below : 0;
	}
	if (spot->address != NO_ID) {
		addresses[spot->address].exclusive += weight;
		addresses[spot->address].inclusive += spot->flags & FIRST_AT_ADDRESS ? below : 0;
	}
}

/* One metric's annotation, its rows in order of discovery. */
static struct annotation *annotation_of(struct annotator *a, size_t metric, struct arena *arena)
{
	struct annotation *result = ARENA_NEW(arena, struct annotation);
	struct annotate_figures *places =
		ARENA_ARRAY(arena, struct annotate_figures, a->places.count);
	struct annotate_figures *addresses =
		ARENA_ARRAY(arena, struct annotate_figures, a->addresses.count);
	int64_t *below = stack_weights_below(a->profile, a->stacks, metric);

	result->function = a->function;
	result->total = a->stacks->total[metric];
	for (uint32_t i = 1; i < a->profile->stack_count; i++)
		add_stack(result, &a->spots[i], a->stacks->weight[metric][i], below[i], places,
			addresses);
	free(below);
	result->place_figures = places;
	result->address_figures = addresses;
	return result;
}

/* ---- order ---- */

struct place_sort {
	const struct annotator *annotator;
	const struct annotate_figures *figures; /* of the first metric */
};

static int compare_files(const struct annotator *a, string_id x, string_id y)
{
	string_id own = a->profile->functions[a->function.i].file;

	if (x.i == y.i)
		return 0;
	if (x.i == own.i || y.i == own.i)
		return x.i == own.i ? -1 : 1;
	return str_compare(profile_string(a->profile, x), profile_string(a->profile, y));
}

static int compare_figures(const struct annotate_figures *x, const struct annotate_figures *y)
{
	if (x->inclusive != y->inclusive)
		return (x->inclusive < y->inclusive) - (x->inclusive > y->inclusive);
	return (x->exclusive < y->exclusive) - (x->exclusive > y->exclusive);
}

/* In reading order: lines, then calls inlined there, the heaviest first. */
static int compare_places(const void *px, const void *py, void *context)
{
	const struct place_sort *sort = context;
	const struct annotator *a = sort->annotator;
	uint32_t i = *(const uint32_t *)px, k = *(const uint32_t *)py;
	const struct annotate_place *x = &a->places.data[i], *y = &a->places.data[k];
	int order = (x->depth > 0) - (y->depth > 0);

	if (order == 0 && x->depth > 0)
		order = compare_figures(&sort->figures[i], &sort->figures[k]);
	if (order == 0 && x->depth > 0)
		order = str_compare(
			profile_string(a->profile, a->profile->functions[x->function.i].name),
			profile_string(a->profile, a->profile->functions[y->function.i].name));
	if (order == 0)
		order = compare_files(a, x->file, y->file);
	if (order == 0)
		order = (x->line > y->line) - (x->line < y->line);
	return order ? order : (i > k) - (i < k);
}

/* Links places, in sorted order, below their parents, and lists them in pre-order. */
static void list_in_preorder(const struct annotator *a, const uint32_t *sorted, uint32_t *order)
{
	size_t count = a->places.count, filled = 0;
	uint32_t *first = xcalloc(count + 1, sizeof(*first)); /* [count]: of the lines */
	uint32_t *sibling = xcalloc(count, sizeof(*sibling));
	uint32_t at;

	for (size_t i = 0; i <= count; i++)
		first[i] = NO_ID;
	for (size_t i = count; i-- > 0;) {
		uint32_t parent = a->places.data[sorted[i]].parent;
		uint32_t *head = &first[parent == NO_ID ? count : parent];

		sibling[sorted[i]] = *head;
		*head = sorted[i];
	}
	for (at = first[count]; at != NO_ID;) {
		uint32_t up = at;

		order[filled++] = at;
		at = first[at];
		for (; at == NO_ID && up != NO_ID; up = a->places.data[up].parent)
			at = sibling[up];
	}
	free(first);
	free(sibling);
}

/* order[i]: the i-th place in reading order; the caller frees it. */
static uint32_t *place_order(const struct annotator *a, const struct annotation *first)
{
	struct place_sort sort = {a, first->place_figures};
	uint32_t *sorted = xcalloc(a->places.count, sizeof(*sorted));
	uint32_t *order = xcalloc(a->places.count, sizeof(*order));

	for (uint32_t i = 0; i < a->places.count; i++)
		sorted[i] = i;
	qsort_r(sorted, a->places.count, sizeof(*sorted), compare_places, &sort);
	list_in_preorder(a, sorted, order);
	free(sorted);
	return order;
}

static int compare_addresses(const void *x, const void *y, void *context)
{
	const uint64_t *addresses = context;
	uint64_t a = addresses[*(const uint32_t *)x], b = addresses[*(const uint32_t *)y];

	return (a > b) - (a < b);
}

static uint32_t *address_order(const struct annotator *a)
{
	uint32_t *order = xcalloc(a->addresses.count, sizeof(*order));

	for (uint32_t i = 0; i < a->addresses.count; i++)
		order[i] = i;
	qsort_r(order, a->addresses.count, sizeof(*order), compare_addresses, a->addresses.data);
	return order;
}

static const struct annotate_place *places_in_order(
	const struct annotator *a, const uint32_t *order, struct arena *arena)
{
	size_t count = a->places.count;
	struct annotate_place *places = ARENA_ARRAY(arena, struct annotate_place, count);
	uint32_t *new_index = xcalloc(count, sizeof(*new_index));

	for (uint32_t i = 0; i < count; i++)
		new_index[order[i]] = i;
	for (uint32_t i = 0; i < count; i++) {
		places[i] = a->places.data[order[i]];
		if (places[i].parent != NO_ID)
			places[i].parent = new_index[places[i].parent];
	}
	free(new_index);
	return places;
}

static const struct annotate_figures *figures_in_order(const struct annotate_figures *figures,
	const uint32_t *order, size_t count, struct arena *arena)
{
	struct annotate_figures *result = ARENA_ARRAY(arena, struct annotate_figures, count);

	for (size_t i = 0; i < count; i++)
		result[i] = figures[order[i]];
	return result;
}

/* Puts the rows of all metrics into the same order. */
static void put_in_order(
	const struct annotator *a, struct annotation **results, size_t count, struct arena *arena)
{
	uint32_t *places = place_order(a, results[0]), *addresses = address_order(a);
	const struct annotate_place *placed = places_in_order(a, places, arena);
	uint64_t *addressed = ARENA_ARRAY(arena, uint64_t, a->addresses.count);

	for (size_t i = 0; i < a->addresses.count; i++)
		addressed[i] = a->addresses.data[addresses[i]];
	for (size_t m = 0; m < count; m++) {
		struct annotation *r = results[m];

		r->places = placed;
		r->place_count = a->places.count;
		r->addresses = addressed;
		r->address_count = a->addresses.count;
		r->place_figures =
			figures_in_order(r->place_figures, places, a->places.count, arena);
		r->address_figures =
			figures_in_order(r->address_figures, addresses, a->addresses.count, arena);
	}
	free(places);
	free(addresses);
}

static void annotator_init(struct annotator *a, const struct profile *profile,
	const struct stack_weights *stacks, function_id function)
{
	*a = (struct annotator){.profile = profile, .stacks = stacks, .function = function};
	a->spots = xcalloc(profile->stack_count, sizeof(*a->spots));
	a->passed = stack_weights_passed(profile, stacks);
}

static void annotator_deinit(struct annotator *a)
{
	free(a->spots);
	free(a->passed);
	map_deinit(&a->place_index);
	map_deinit(&a->address_index);
	vec_deinit(&a->places);
	vec_deinit(&a->addresses);
	vec_deinit(&a->on_place);
	vec_deinit(&a->on_address);
}

struct annotation *annotate(const struct profile *profile, const struct stack_weights *stacks,
	function_id function, const struct annotate_code *code, size_t code_count,
	struct arena *arena)
{
	size_t count = stacks->metric_count;
	struct annotation **results = ARENA_ARRAY(arena, struct annotation *, count);
	struct annotator a;

	annotator_init(&a, profile, stacks, function);
	a.code = code;
	a.code_count = code_count;
	find_spots(&a);
	for (size_t m = 0; m < count; m++)
		results[m] = annotation_of(&a, m, arena);
	put_in_order(&a, results, count, arena);
	results[0]->others = (const struct annotation *const *)(results + 1);
	results[0]->other_count = count - 1;
	annotator_deinit(&a);
	return results[0];
}

static int compare_u64(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return (a > b) - (a < b);
}

size_t annotate_addresses(const struct profile *profile, const struct stack_weights *stacks,
	function_id function, uint64_t **addresses, struct arena *arena)
{
	bool *passed = stack_weights_passed(profile, stacks);
	VEC(uint64_t) found = {0};
	size_t count = 0;

	for (uint32_t i = 1; i < profile->stack_count; i++) {
		const struct frame *frame = &profile->frames[profile->stack_frame[i].i];

		if (passed[i] && frame->function.i == function.i && !frame->is_inline &&
			frame->obj_addr != 0)
			vec_push(&found, frame->obj_addr);
	}
	free(passed);
	if (found.count)
		qsort(found.data, found.count, sizeof(*found.data), compare_u64);
	*addresses = ARENA_ARRAY(arena, uint64_t, found.count);
	for (size_t i = 0; i < found.count; i++)
		if (i == 0 || found.data[i] != found.data[i - 1])
			(*addresses)[count++] = found.data[i];
	vec_deinit(&found);
	return count;
}

/* The line at `place` with the places that are inlined there, which follow it. */
static struct annotate_hottest weigh_line(const struct annotation *a, size_t place)
{
	struct annotate_hottest line = {.place = (uint32_t)place,
		.exclusive = a->place_figures[place].exclusive,
		.inlined = NO_ID};

	for (size_t i = place + 1; i < a->place_count && a->places[i].depth > 0; i++) {
		int64_t weight = a->place_figures[i].exclusive;

		line.exclusive += weight;
		if (weight <= line.inlined_exclusive)
			continue;
		line.inlined = (uint32_t)i;
		line.inlined_exclusive = weight;
	}
	return line;
}

bool annotate_find_hottest(const struct annotation *annotation, struct annotate_hottest *hottest)
{
	struct annotate_hottest most = {.exclusive = 0};

	for (size_t i = 0; i < annotation->place_count; i++) {
		const struct annotate_place *place = &annotation->places[i];

		if (place->depth > 0 || place->line == 0)
			continue;
		struct annotate_hottest line = weigh_line(annotation, i);

		if (line.exclusive > most.exclusive)
			most = line;
	}
	if (most.exclusive > 0)
		*hottest = most;
	return most.exclusive > 0;
}

int64_t annotate_places_weight(const struct annotation *annotation, const bool *wanted)
{
	int64_t sum = 0;

	for (size_t i = 0; i < annotation->place_count; i++)
		sum += wanted == NULL || wanted[i] ? annotation->place_figures[i].exclusive : 0;
	return sum;
}
