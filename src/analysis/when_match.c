/*
 * Finds the stacks that a WHEN pattern matches, and the function that each is charged to.
 *
 * A pattern represents a list of threads, one for each way to choose alternatives, where the
 * leftmost choice varies slowest.  The first thread that matches a stack decides.  Among its
 * alignments with the stack, the one that begins outermost and whose `*` and module runs are
 * shortest, from left to right, decides.  There can be 2^pattern threads and depth^pattern
 * alignments.
 *
 * Here all are tried at once, frame by frame, as in the simulation of a nondeterministic automaton
 * (K. Thompson, "Regular expression search algorithm", 1968).  A *way* is the beginning of a
 * thread, aligned with the frames so far.  It is at a *position*: the star or name that took the
 * last frame.  Ways at the same position have the same continuations, so only the best is kept.
 * "Best" is not the order in which a backtracking matcher would find them (as in R. Pike's
 * simulation).  There, an early star outranks a later alternative; here, the alternatives of the
 * whole pattern outrank all stars.  So ways are compared by two keys:
 *
 * - choices: the list of alternatives that the way took, in groups with more than one.  Ways at the
 *   same position chose among the same groups up to their first difference.  So neither list is a
 *   prefix of the other, and the first difference decides, now as well as at the end.
 * - rank, among ways with equal choices: at the first frame at which two ways differ, the one
 *   further along the thread is better, because it began at a frame further out, or left a star or
 *   run that the other is still in.  That is the order of ranks at the previous frame, then of
 *   positions, and continuations of two ways keep their order.
 *
 * Appending the same rest to two ways keeps both orders, so the best way to the end consists of
 * best ways.  A way's charge is known after its first colon.
 *
 * The steps of a pattern are in the order of its text.  One pass over them (`advance`) takes the
 * ways at a stack to all positions that can take the next frame, and to the end, where the best way
 * is the stack's result.  A child takes those that fit its frame (`enter`).  So each stack is
 * processed once, for all stacks above and below it.  A pass costs one comparison per step, and
 * skips groups without ways; comparing two lists of choices costs at most one step per group of the
 * pattern, usually one.
 *
 * A visit creates at most one list for each alternative of the pattern.  A list is kept while a way
 * uses a part of it; others are collected when they are several times as many (when_choices.h).  So
 * memory does not grow with the number of attempts.
 *
 * A way is dropped when no stack below has the number of frames that it still needs: each position
 * has the fewest and the most frames that can follow, and each stack the distances of the nearest
 * and the farthest stack below that is shown.  All ways at a position need the same, so this never
 * drops the better of two.
 *
 * If the best way is at a star that ends its thread, and has taken only leftmost alternatives,
 * nothing is left to decide below that stack: no other way can become better.
 *
 * The walk over the stack tree has its own stack of nodes to visit, with their ways, so a chain of
 * any depth needs the room of one node.  when.h has the limits.
 */
#include "analysis/when_choices.h"
#include "analysis/when_pattern.h"

/* Charges other than stacks and SHOWN_SPONTANEOUS, before or at the first colon. */
#define CHARGE_LEAF (NO_ID - 3) /* no colon yet */
#define CHARGE_HERE (NO_ID - 4) /* the last frame taken at the way's position */

/* A way and its position; a stack's ways are ordered by rank. */
struct standing {
	uint32_t position;
	uint32_t choices; /* a list of match.choices */
	uint32_t charge;
};

/* How a way's charge changes after the visited stack. */
enum charge_change {
	CHARGE_STAYS,
	CHARGE_BECOMES_HERE,
	CHARGE_BECOMES_CALLER, /* the stack before the next frame */
	CHARGE_BECOMES_VISITED /* was CHARGE_HERE, and the way left its position */
};

/*
 * During a visit a way is a number: choices << 32 | rank << 2 | enum charge_change.  Rank 0 is the
 * best, and a way's rank gives its charge at the stack.
 */
#define NO_WAY	UINT64_MAX
#define NOTHING UINT32_MAX /* the end of lists of numbers */

/* A stack to visit, with the last of the ways in match.standing. */
struct visit {
	uint32_t stack;
	uint32_t count;
	bool is_settled;
	uint32_t charge; /* if is_settled */
};

/* How many frames can follow a position, or lead from a stack to the shown ones below. */
struct span {
	uint16_t least, most; /* at UINT16_MAX: that or more */
};

struct group {
	uint64_t entry;	 /* the way that reached the group, with the leftmost choice */
	uint64_t exit;	 /* the best way through the alternatives so far */
	uint64_t choice; /* added to entry for each further alternative */
};

/* A set has word_count words, with positions as in when_fits. */
struct match {
	const struct when *when;
	const struct profile *profile;
	const uint32_t *parent;
	uint32_t *first_child, *next_child; /* [stack]: those that matter; 0: none */
	struct span *below; /* [stack]; span_none: nothing is shown there or below */
	uint32_t *result;   /* [stack] */
	uint64_t *fits;	    /* from when_fits */
	size_t word_count;
	bool *ends_thread; /* [position]: a star at the end of its thread */
	struct span *rest; /* [position]: frames after those that it takes */
	struct choices choices;
	VEC(struct standing) standing;
	VEC(struct visit) visits;
	struct group *groups; /* the open ones */
	uint64_t *here;	      /* [position]: the ways of the visited stack */
	uint64_t *here_set;   /* the positions with ways */
	uint32_t *charge;     /* [rank]: of these ways, and of the way that begins after the
			         stack */
	uint64_t *busy;	      /* these positions, and those that fit a child of the stack */
	uint64_t *next;	      /* [position]: ways that could take another frame there */
	uint64_t *next_set;   /* the positions with such ways */
	/* Whether m->next is the result of `advance` without ways; then its return value. */
	bool next_is_first;
	uint64_t first_end;
	uint32_t *first_ranked; /* [rank]: positions to enter, chained; NOTHING: end */
	uint32_t *next_ranked;	/* [position] */
	struct when_work work;
};

static uint64_t way_at(uint32_t choices, uint32_t rank)
{
	return (uint64_t)choices << 32 | rank << 2;
}

static uint32_t way_choices(uint64_t way)
{
	return (uint32_t)(way >> 32);
}

static uint32_t way_rank(uint64_t way)
{
	return (uint32_t)way >> 2;
}

static uint64_t better_of_two(struct match *m, uint64_t a, uint64_t b)
{
	int order = choices_compare(&m->choices, way_choices(a), way_choices(b));

	if (order != 0)
		return order < 0 ? a : b;
	return a < b ? a : b;
}

/* Usually one of them is NO_WAY. */
static inline uint64_t better(struct match *m, uint64_t a, uint64_t b)
{
	return a == NO_WAY ? b : b == NO_WAY ? a : better_of_two(m, a, b);
}

static struct group open_group(struct match *m, const struct when_step *step, uint64_t way)
{
	struct group group = {.entry = way, .exit = NO_WAY};

	if (way != NO_WAY && step->alternatives > 1) {
		uint32_t first = choices_add(&m->choices, way_choices(way), step->alternatives);

		group.entry = (uint64_t)first << 32 | (uint32_t)way;
		group.choice = UINT64_C(1) << 32;
	}
	return group;
}

/* A way that reaches a step that takes frames; its first colon settles its charge. */
static inline uint64_t with_colons(
	const struct match *m, uint64_t way, const struct when_step *step)
{
	if (!step->charges || way == NO_WAY || way & 3 || m->charge[way_rank(way)] != CHARGE_LEAF)
		return way;
	return way | (step->charges & WHEN_CALLER ? CHARGE_BECOMES_CALLER : CHARGE_BECOMES_HERE);
}

/* Whether the set contains a position from first to before last. */
static bool has_some(const uint64_t *set, uint32_t first, uint32_t last)
{
	size_t w = first / 64, last_word = (last - 1) / 64;
	uint64_t bits = set[w] & UINT64_MAX << first % 64;

	while (w < last_word && bits == 0)
		bits = set[++w];
	if (w == last_word)
		bits &= UINT64_MAX >> (63 - (last - 1) % 64);
	return bits != 0;
}

/*
 * Whether a group that the way reaches can be skipped: no way is in it, and this one can neither
 * continue there with a child's frame nor leave it without one.
 */
static bool is_idle(const struct match *m, const struct when_step *group, uint64_t way)
{
	if (way != NO_WAY && group->is_passable)
		return false;
	return !has_some(way != NO_WAY ? m->busy : m->here_set, group->first_position, group->last);
}

/* Sets m->next at the position that a way reaches; returns the way that leaves the position. */
static inline uint64_t advance_position(struct match *m, const struct when_step *step, uint64_t in)
{
	uint32_t p = step->number;
	uint64_t out = m->here[p], next = with_colons(m, in, step);

	if (step->kind != WHEN_FRAME)
		next = better(m, out, next);
	m->next[p] = next;
	if (next != NO_WAY)
		m->next_set[p / 64] |= UINT64_C(1) << p % 64;
	if (step->charges & WHEN_OWN && out != NO_WAY && m->charge[way_rank(out)] == CHARGE_HERE)
		out |= CHARGE_BECOMES_VISITED;
	return step->kind == WHEN_STAR ? better(m, out, in) : out;
}

/*
 * Advances the `count` ways at the stack, m->here, to m->next, at least where a child fits; returns
 * the best way that reaches the pattern's end.  One more way begins after each stack.
 */
static uint64_t advance(struct match *m, uint32_t count)
{
	uint64_t way = way_at(CHOICES_NONE, count);
	const struct when_step *steps = m->when->steps.data, *end = steps + m->when->steps.count;
	struct group *group = m->groups;
	size_t gone_through = 0;

	memset(m->next_set, 0, m->word_count * sizeof(*m->next_set));
	for (const struct when_step *step = steps; step < end; step++, gone_through++) {
		if (step->kind >= WHEN_STAR) {
			way = advance_position(m, step, way);
		} else if (step->kind == WHEN_ALTERNATIVE) {
			if (step->number > 0)
				group[-1].exit = better(m, group[-1].exit, way);
			way = group[-1].entry;
			if (way != NO_WAY)
				way += group[-1].choice * step->number;
		} else if (step->kind == WHEN_GROUP_END) {
			group--;
			way = better(m, group->exit, way);
		} else if (is_idle(m, step, way)) {
			way = NO_WAY;
			step = steps + step->behind - 1;
		} else {
			*group++ = open_group(m, step, way);
		}
	}
	m->work.steps += gone_through;
	return way;
}

static const uint64_t *fits_of(const struct match *m, uint32_t stack)
{
	uint32_t function = m->profile->frames[m->profile->stack_frame[stack].i].function.i;

	return m->fits + function * m->word_count;
}

/*
 * Most stacks have no ways.  Then the result is always the same, so it is computed once for all
 * positions.
 */
static uint64_t advance_first(struct match *m)
{
	if (!m->next_is_first) {
		memset(m->busy, 0xff, m->word_count * sizeof(*m->busy));
		m->first_end = advance(m, 0);
		m->next_is_first = true;
	}
	return m->first_end;
}

static uint64_t advance_from(struct match *m, uint32_t stack, uint32_t count)
{
	if (count == 0)
		return advance_first(m);
	memcpy(m->busy, m->here_set, m->word_count * sizeof(*m->busy));
	for (uint32_t c = m->first_child[stack]; c; c = m->next_child[c]) {
		const uint64_t *fits = fits_of(m, c);

		for (size_t w = 0; w < m->word_count; w++)
			m->busy[w] |= fits[w];
	}
	m->next_is_first = false;
	return advance(m, count);
}

/*
 * Chains the positions at which a way takes the stack's frame and may reach the end below, later
 * ones first, by the ranks of the ways that reach them; returns their number.
 */
static uint32_t rank_fitting(struct match *m, uint32_t stack)
{
	const uint64_t *fits = fits_of(m, stack);
	struct span below = m->below[stack];
	uint32_t count = 0;

	for (size_t w = 0; w < m->word_count; w++) {
		for (uint64_t set = m->next_set[w] & fits[w]; set; set &= set - 1) {
			uint32_t p = (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(set);
			uint32_t *first = &m->first_ranked[way_rank(m->next[p])];

			if (m->rest[p].least > below.most || m->rest[p].most < below.least)
				continue;
			m->next_ranked[p] = *first;
			*first = p;
			count++;
		}
	}
	return count;
}

/* The charge of a way that takes a frame after the stack `visited`. */
static inline uint32_t charge_below(const struct match *m, uint32_t visited, uint64_t way)
{
	switch ((enum charge_change)(way & 3)) {
	case CHARGE_STAYS:
		break;
	case CHARGE_BECOMES_HERE:
		return CHARGE_HERE;
	case CHARGE_BECOMES_CALLER:
		return visited == 0 ? SHOWN_SPONTANEOUS : visited;
	case CHARGE_BECOMES_VISITED:
		return visited;
	}
	return m->charge[way_rank(way)];
}

/* Queues a child of `visited`, whose m->next is ready, for a later visit. */
static void enter(struct match *m, uint32_t stack, uint32_t visited)
{
	uint32_t entering = rank_fitting(m, stack);

	vec_reserve(&m->standing, m->standing.count + entering);
	for (uint32_t rank = 0, k = 0; k < entering; rank++) {
		for (uint32_t p = m->first_ranked[rank]; p != NOTHING; p = m->next_ranked[p], k++)
			m->standing.data[m->standing.count + k] = (struct standing){
				p, way_choices(m->next[p]), charge_below(m, visited, m->next[p])};
		m->first_ranked[rank] = NOTHING;
	}
	m->standing.count += entering;
	vec_push(&m->visits, (struct visit){.stack = stack, .count = entering});
	m->work.steps += entering;
}

static uint32_t result_of(const struct match *m, uint32_t stack, uint64_t way)
{
	if (way == NO_WAY)
		return SHOWN_UNMATCHED;
	if (way & 3 || m->charge[way_rank(way)] == CHARGE_LEAF)
		return stack;
	return m->charge[way_rank(way)];
}

/* Whether the stack's best way is also that of all stacks below. */
static bool settles(const struct match *m, const struct standing *best)
{
	return m->ends_thread[best->position] && choices_are_leftmost(&m->choices, best->choices);
}

static void visit_settled(struct match *m, uint32_t stack, uint32_t charge)
{
	m->result[stack] = charge == CHARGE_LEAF ? stack : charge;
	for (uint32_t c = m->first_child[stack]; c; c = m->next_child[c])
		vec_push(&m->visits,
			(struct visit){.stack = c, .is_settled = true, .charge = charge});
}

static void visit(struct match *m, struct visit v)
{
	size_t begin = m->standing.count - v.count;

	for (uint32_t rank = 0; rank < v.count; rank++) {
		const struct standing *s = &m->standing.data[begin + rank];

		m->here[s->position] = way_at(s->choices, rank);
		m->here_set[s->position / 64] |= UINT64_C(1) << s->position % 64;
		m->charge[rank] = s->charge;
	}
	m->charge[v.count] = CHARGE_LEAF;
	m->standing.count = begin;
	m->result[v.stack] = result_of(m, v.stack, advance_from(m, v.stack, v.count));
	for (uint32_t rank = 0; rank < v.count; rank++) {
		uint32_t position = m->standing.data[begin + rank].position;

		m->here[position] = NO_WAY;
		m->here_set[position / 64] = 0;
	}
	for (uint32_t c = m->first_child[v.stack]; c; c = m->next_child[c])
		enter(m, c, v.stack);
}

/* Frees the lists of choices that no way uses. */
static void collect_choices(struct match *m)
{
	struct choices *c = &m->choices;

	choices_mark_begin(c);
	for (size_t i = 0; i < m->standing.count; i++)
		choices_mark(c, m->standing.data[i].choices);
	choices_collect(c);
	for (size_t i = 0; i < m->standing.count; i++)
		m->standing.data[i].choices = choices_moved(c, m->standing.data[i].choices);
	m->next_is_first = false;
}

static void visit_last(struct match *m)
{
	struct visit v = m->visits.data[--m->visits.count];
	const struct standing *best =
		v.count > 0 ? &m->standing.data[m->standing.count - v.count] : NULL;

	if (v.is_settled) {
		visit_settled(m, v.stack, v.charge);
	} else if (best && settles(m, best)) {
		uint32_t charge = best->charge;

		m->standing.count -= v.count;
		visit_settled(m, v.stack, charge);
	} else {
		visit(m, v);
	}
}

static uint16_t span_sum(uint16_t a, uint16_t b)
{
	return a > UINT16_MAX - b ? UINT16_MAX : (uint16_t)(a + b);
}

/* Widens a span so that it contains another, with as many frames in front. */
static void span_join(struct span *span, struct span other, uint16_t frames)
{
	uint16_t least = span_sum(other.least, frames), most = span_sum(other.most, frames);

	if (least < span->least)
		span->least = least;
	if (most > span->most)
		span->most = most;
}

/* Contains nothing. */
static const struct span span_none = {.least = UINT16_MAX};

static bool span_is_none(struct span span)
{
	return span.least > span.most;
}

/*
 * What follows each position.  Processes the steps from the end: what follows a group also follows
 * its alternatives.
 */
static void find_rests(struct match *m)
{
	struct {
		struct span behind, from_begin;
	} *groups = xcalloc(m->when->nesting_max + 1, sizeof(*groups)), *group = groups;
	struct span rest = {0};

	for (size_t i = m->when->steps.count; i-- > 0;) {
		const struct when_step *step = &m->when->steps.data[i];

		switch ((enum when_step_kind)step->kind) {
		case WHEN_GROUP_END:
			group++;
			group->behind = rest;
			group->from_begin = span_none;
			break;
		case WHEN_ALTERNATIVE:
			span_join(&group->from_begin, rest, 0);
			rest = group->behind;
			break;
		case WHEN_GROUP:
			rest = group->from_begin;
			group--;
			break;
		case WHEN_STAR:
			m->ends_thread[step->number] = rest.most == 0;
			rest.most = UINT16_MAX;
			m->rest[step->number] = rest;
			break;
		case WHEN_RUN:
			rest.most = UINT16_MAX;
			m->rest[step->number] = rest;
			rest.least = span_sum(rest.least, 1);
			break;
		case WHEN_FRAME:
			m->rest[step->number] = rest;
			rest = (struct span){span_sum(rest.least, 1), span_sum(rest.most, 1)};
			break;
		}
	}
	free(groups);
}

static bool ends_here(const struct match *m, uint32_t stack)
{
	return profile_row(m->profile, stack) != 0;
}

/* The tree of the stacks that something that ends is shown as, and of their parents. */
static void match_tree(struct match *m, const uint32_t *shown)
{
	size_t count = m->profile->stack_count;

	m->first_child = xcalloc(count, sizeof(*m->first_child));
	m->next_child = xcalloc(count, sizeof(*m->next_child));
	m->below = xcalloc(count, sizeof(*m->below));
	for (size_t i = 0; i < count; i++)
		m->below[i] = span_none;
	for (uint32_t i = 0; i < count; i++)
		if (SHOWN_IS_STACK(shown[i]) && ends_here(m, i))
			m->below[shown[i]].least = 0;
	for (uint32_t i = (uint32_t)count - 1; i > 0; i--) {
		if (span_is_none(m->below[i]))
			continue;
		span_join(&m->below[m->parent[i]], m->below[i], 1);
		m->next_child[i] = m->first_child[m->parent[i]];
		m->first_child[m->parent[i]] = i;
	}
}

static void match_init(struct match *m, const struct when *when, const struct profile *profile,
	const uint32_t *parent, const uint32_t *shown)
{
	size_t positions = when->positions.count, words = when_word_count(when);

	*m = (struct match){
		.when = when, .profile = profile, .parent = parent, .word_count = words};
	match_tree(m, shown);
	m->result = xcalloc(profile->stack_count, sizeof(*m->result));
	m->fits = when_fits(when, profile);
	m->groups = xcalloc(when->nesting_max, sizeof(*m->groups));
	m->here = xcalloc(positions, sizeof(*m->here));
	m->charge = xcalloc(positions + 1, sizeof(*m->charge));
	m->next = xcalloc(positions, sizeof(*m->next));
	m->here_set = xcalloc(words, sizeof(*m->here_set));
	m->next_set = xcalloc(words, sizeof(*m->next_set));
	m->busy = xcalloc(words, sizeof(*m->busy));
	m->first_ranked = xcalloc(positions + 1, sizeof(*m->first_ranked));
	m->next_ranked = xcalloc(positions, sizeof(*m->next_ranked));
	m->ends_thread = xcalloc(positions, sizeof(*m->ends_thread));
	m->rest = xcalloc(positions, sizeof(*m->rest));
	find_rests(m);
	for (size_t i = 0; i < positions; i++)
		m->here[i] = NO_WAY;
	for (size_t i = 0; i <= positions; i++)
		m->first_ranked[i] = NOTHING;
}

static void match_deinit(struct match *m)
{
	free(m->first_child);
	free(m->next_child);
	free(m->result);
	free(m->fits);
	free(m->below);
	free(m->ends_thread);
	free(m->rest);
	choices_deinit(&m->choices);
	vec_deinit(&m->standing);
	vec_deinit(&m->visits);
	free(m->groups);
	free(m->here);
	free(m->here_set);
	free(m->charge);
	free(m->busy);
	free(m->next);
	free(m->next_set);
	free(m->first_ranked);
	free(m->next_ranked);
}

void when_apply_counted(const struct when *when, const struct profile *profile,
	const uint32_t *parent, uint32_t *shown, size_t few_choices, struct when_work *work)
{
	struct match m;

	match_init(&m, when, profile, parent, shown);
	choices_init(&m.choices, few_choices);
	vec_push(&m.visits, (struct visit){.stack = 0});
	while (m.visits.count > 0) {
		if (choices_are_many(&m.choices))
			collect_choices(&m);
		visit_last(&m);
	}
	for (uint32_t i = 0; i < profile->stack_count; i++) {
		if (SHOWN_IS_STACK(shown[i]))
			shown[i] = ends_here(&m, i) ? m.result[shown[i]] : SHOWN_UNMATCHED;
		else if (shown[i] == SHOWN_SPONTANEOUS && m.result[0] == SHOWN_UNMATCHED)
			shown[i] = SHOWN_UNMATCHED;
	}
	*work = m.work;
	work->steps += m.choices.steps;
	work->choices_max = m.choices.lists_max;
	work->standing_max = m.standing.capacity;
	match_deinit(&m);
}

void when_apply(const struct when *when, const struct profile *profile, const uint32_t *parent,
	uint32_t *shown)
{
	struct when_work work;

	when_apply_counted(when, profile, parent, shown, CHOICES_FEW, &work);
}
