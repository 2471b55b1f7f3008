/*
 * Which stacks a WHEN pattern matches, and whom it charges.
 *
 * A pattern stands for a list of threads, one for each way to choose alternatives, the leftmost
 * choice slowest; the first thread that matches a stack decides, and of its alignments with the
 * stack the one that begins outermost and whose `*` and module runs are, left to right, shortest.
 * Threads can be 2^pattern many, alignments depth^pattern.
 *
 * Here all are tried at once, frame by frame, as by the simulation of a nondeterministic automaton
 * (K. Thompson, "Regular expression search algorithm", 1968).  A *way* is a beginning of a thread,
 * aligned with the frames so far; it stands at a *position*: the star or name that took the last
 * frame.  Ways that stand at the same position have the same futures, so only the best is kept.
 * "Best" is not the order in which a backtracking matcher would find them (R. Pike's simulation
 * keeps that one): there an early star outranks a later alternative, here the alternatives of the
 * whole pattern outrank all stars.  So a way has two keys:
 *
 * - choices: the alternatives that it went through, a node of a tree of all that ever were taken.
 *   Ways at one position chose among the same groups up to where they differ, so neither's list
 *   begins the other's, and the first difference decides, now as well as at the end.
 * - rank, among ways of the same choices: at the first frame at which two ways differ, that which
 *   is further along the thread is better: it began at a frame further out, or left a star or a run
 *   which the other is still in.  That is the order of ranks at the frame before, then of
 *   positions, and what remains of two ways in that order remains in it.
 *
 * Adding the same rest to two ways keeps both orders, so the best way to the end consists of best
 * ways.  A way's charge is known when its first colon has been passed.
 *
 * The steps of a pattern stand in the order of its text.  One pass over them (`advance`) takes the
 * ways at a stack to all positions that can take the next frame, and to the end, where the best is
 * the stack's result; a child takes from these what its frame fits (`enter`).  So a stack is gone
 * through once, whatever stands above and below it.  A pass takes one comparison a step; comparing
 * two lists of choices takes at most as many steps as the pattern has groups, most often one.
 *
 * Below a stack whose best way stands at a star with which its thread ends, and has gone through
 * leftmost alternatives only, there is nothing to decide: no other way gets better.
 *
 * The stack tree is walked with what is still to be visited, and its ways, on a stack of its own: a
 * chain, however deep, needs the room of one node.
 */
#include "analysis/when_pattern.h"

#include "base/child_table.h"

/* Charges beside stacks and SHOWN_SPONTANEOUS, while no colon was passed or where it stands. */
#define CHARGE_LEAF   (NO_ID - 3) /* no colon yet */
#define CHARGE_HERE   (NO_ID - 4) /* the last frame that the way's position takes */
#define CHARGE_CALLER (NO_ID - 5) /* the stack before the next frame */

#define NO_WAY UINT32_MAX

struct way {
	uint32_t choices; /* node of match.choices; NO_WAY: there is none */
	uint32_t rank;	  /* 0 is the best */
	uint32_t charge;
};

/* A way and where it stands; those of a stack are kept in the order of their ranks. */
struct standing {
	uint32_t position;
	uint32_t choices, charge;
};

/* A stack to visit, with the last of the ways in match.standing. */
struct visit {
	uint32_t stack;
	uint32_t count;
	bool is_settled;
	uint32_t charge; /* if so */
};

struct group {
	struct way entry; /* that came to the group */
	struct way exit;  /* best of those through the alternatives so far */
};

struct match {
	const struct when *when;
	const struct profile *profile;
	const uint32_t *parent;
	uint32_t *first_child, *next_child; /* [stack] that matter; 0: none */
	bool *matters;			    /* [stack] it, or one below, is shown */
	uint32_t *result;		    /* [stack] what becomes of it */
	uint64_t *fits;			    /* of when_fits */
	size_t word_count;
	bool *ends_thread; /* [position] a star behind which there is nothing */
	struct child_table choices;
	VEC(struct standing) standing;
	VEC(struct visit) visits;
	struct group *groups; /* that are open */
	struct way *here;     /* [position] ways of the stack being visited */
	struct way *next;     /* [position] ways that could take one more frame there */
	uint64_t *next_set;   /* those that there are */
	/* Whether m->next is what `advance` makes where there are no ways, and then its result. */
	bool next_is_first;
	struct way first_end;
	uint32_t *first_ranked; /* [rank] positions to enter, chained by next_ranked; NO_WAY: end */
	uint32_t *next_ranked;	/* [position] */
};

static const struct way no_way = {.choices = NO_WAY};

/* < 0: a is better. */
static int compare_choices(const struct child_table *t, uint32_t a, uint32_t b)
{
	const struct child *nodes = t->nodes.data;

	if (a == b)
		return 0;
	/* The larger of two different parents lies below where the lists part. */
	while (nodes[a].parent != nodes[b].parent) {
		if (nodes[a].parent > nodes[b].parent)
			a = nodes[a].parent;
		else
			b = nodes[b].parent;
	}
	return nodes[a].key < nodes[b].key ? -1 : 1;
}

static struct way better(const struct match *m, struct way a, struct way b)
{
	if (a.choices == NO_WAY)
		return b;
	if (b.choices == NO_WAY)
		return a;
	int order = compare_choices(&m->choices, a.choices, b.choices);

	if (order != 0)
		return order < 0 ? a : b;
	return a.rank < b.rank ? a : b;
}

static struct way with_choice(struct match *m, struct way way, uint32_t alternative)
{
	bool added;

	if (way.choices != NO_WAY)
		way.choices = child_table_at(&m->choices, way.choices, alternative, &added);
	return way;
}

/* A way that comes to a step that takes frames; past its first colon its charge is settled. */
static struct way with_colons(struct way way, const struct when_step *step)
{
	if (way.charge != CHARGE_LEAF)
		return way;
	if (step->charges_caller)
		way.charge = CHARGE_CALLER;
	else if (step->charges_own)
		way.charge = CHARGE_HERE;
	return way;
}

/* The way at the position that comes to the step for the next frame; what leaves it for others. */
static struct way advance_position(
	struct match *m, const struct when_step *step, uint32_t stack, struct way in)
{
	uint32_t p = step->number;
	struct way here = m->here[p], out = here, next = with_colons(in, step);

	if (step->kind != WHEN_FRAME)
		next = better(m, here, next);
	m->next[p] = next;
	if (next.choices != NO_WAY)
		m->next_set[p / 64] |= UINT64_C(1) << p % 64;
	if (out.charge == CHARGE_HERE)
		out.charge = stack;
	return step->kind == WHEN_STAR ? better(m, out, in) : out;
}

/*
 * From the ways at the stack, m->here, of which there are `count`, to m->next; the best that comes
 * to the pattern's end.  One way more begins behind each stack.
 */
static struct way advance(struct match *m, uint32_t stack, uint32_t count)
{
	struct way way = {.choices = 0, .rank = count, .charge = CHARGE_LEAF};
	struct group *group = m->groups;

	memset(m->next_set, 0, m->word_count * sizeof(*m->next_set));
	for (size_t i = 0; i < m->when->steps.count; i++) {
		const struct when_step *step = &m->when->steps.data[i];

		switch (step->kind) {
		case WHEN_GROUP:
			*group++ = (struct group){way, no_way};
			break;
		case WHEN_ALTERNATIVE:
			if (step->number > 0)
				group[-1].exit = better(m, group[-1].exit, way);
			way = with_choice(m, group[-1].entry, step->number);
			break;
		case WHEN_GROUP_END:
			group--;
			way = better(m, group->exit, way);
			break;
		case WHEN_STAR:
		case WHEN_FRAME:
		case WHEN_RUN:
			way = advance_position(m, step, stack, way);
			break;
		}
	}
	return way;
}

/* Where no way stands at the stack, as at most there are, m->next is the same for all these. */
static struct way advance_from(struct match *m, uint32_t stack, uint32_t count)
{
	if (count == 0 && m->next_is_first)
		return m->first_end;
	struct way end = advance(m, stack, count);

	m->next_is_first = count == 0;
	if (count == 0)
		m->first_end = end;
	return end;
}

static uint32_t charge_at(const struct match *m, uint32_t stack, uint32_t charge)
{
	if (charge != CHARGE_CALLER)
		return charge;
	return m->parent[stack] == 0 ? SHOWN_SPONTANEOUS : m->parent[stack];
}

/* Chains the positions that fit, later ones first, by the ranks of the ways that come to them. */
static void rank_fitting(struct match *m, const uint64_t *fits)
{
	for (size_t w = 0; w < m->word_count; w++) {
		for (uint64_t set = m->next_set[w] & fits[w]; set; set &= set - 1) {
			uint32_t p = (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(set);
			uint32_t *first = &m->first_ranked[m->next[p].rank];

			m->next_ranked[p] = *first;
			*first = p;
		}
	}
}

/* A stack below that whose m->next there is, for a later visit; that one has `count` ways. */
static void enter(struct match *m, uint32_t stack, uint32_t count)
{
	uint32_t function = m->profile->frames[m->profile->stack_frame[stack].i].function.i;
	size_t before = m->standing.count;

	rank_fitting(m, m->fits + function * m->word_count);
	for (uint32_t rank = 0; rank <= count; rank++) {
		for (uint32_t p = m->first_ranked[rank]; p != NO_WAY; p = m->next_ranked[p])
			vec_push(&m->standing, (struct standing){p, m->next[p].choices,
						       charge_at(m, stack, m->next[p].charge)});
		m->first_ranked[rank] = NO_WAY;
	}
	vec_push(&m->visits,
		(struct visit){.stack = stack, .count = (uint32_t)(m->standing.count - before)});
}

static uint32_t result_of(uint32_t stack, struct way way)
{
	if (way.choices == NO_WAY)
		return SHOWN_UNMATCHED;
	return way.charge == CHARGE_LEAF ? stack : way.charge;
}

static bool is_leftmost(const struct child_table *t, uint32_t choices)
{
	while (choices > 0 && t->nodes.data[choices].key == 0)
		choices = t->nodes.data[choices].parent;
	return choices == 0;
}

/* Whether the stack's best way is that of all stacks below. */
static bool settles(const struct match *m, const struct standing *best)
{
	return m->ends_thread[best->position] && is_leftmost(&m->choices, best->choices);
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
		m->here[s->position] = (struct way){s->choices, rank, s->charge};
	}
	m->result[v.stack] = result_of(v.stack, advance_from(m, v.stack, v.count));
	for (uint32_t rank = 0; rank < v.count; rank++)
		m->here[m->standing.data[begin + rank].position] = no_way;
	m->standing.count = begin;
	for (uint32_t c = m->first_child[v.stack]; c; c = m->next_child[c])
		enter(m, c, v.count);
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

/* Goes through the steps from the end: what is behind a group is behind its alternatives, too. */
static void find_ends(struct match *m)
{
	bool *group_ends = xcalloc(m->when->nesting_max + 1, sizeof(*group_ends));
	uint32_t nesting = 0;
	bool at_end = true;

	for (size_t i = m->when->steps.count; i-- > 0;) {
		const struct when_step *step = &m->when->steps.data[i];

		switch (step->kind) {
		case WHEN_GROUP_END:
			group_ends[nesting++] = at_end;
			break;
		case WHEN_ALTERNATIVE:
			at_end = group_ends[nesting - 1];
			break;
		case WHEN_GROUP:
			nesting--;
			at_end = false;
			break;
		case WHEN_STAR:
		case WHEN_FRAME:
		case WHEN_RUN:
			m->ends_thread[step->number] = at_end && step->kind == WHEN_STAR;
			at_end = false;
			break;
		}
	}
	free(group_ends);
}

/* The tree of the stacks that are shown, and of their parents. */
static void match_tree(struct match *m, const uint32_t *shown)
{
	size_t count = m->profile->stack_count;

	m->first_child = xcalloc(count, sizeof(*m->first_child));
	m->next_child = xcalloc(count, sizeof(*m->next_child));
	m->matters = xcalloc(count, sizeof(*m->matters));
	for (size_t i = 0; i < count; i++)
		if (SHOWN_IS_STACK(shown[i]))
			m->matters[shown[i]] = true;
	for (uint32_t i = (uint32_t)count - 1; i > 0; i--) {
		if (!m->matters[i])
			continue;
		m->matters[m->parent[i]] = true;
		m->next_child[i] = m->first_child[m->parent[i]];
		m->first_child[m->parent[i]] = i;
	}
}

static void match_init(struct match *m, const struct when *when, const struct profile *profile,
	const uint32_t *parent, const uint32_t *shown)
{
	size_t positions = when->position_count;

	*m = (struct match){.when = when, .profile = profile, .parent = parent};
	match_tree(m, shown);
	m->result = xcalloc(profile->stack_count, sizeof(*m->result));
	m->fits = when_fits(when, profile, &m->word_count);
	child_table_init(&m->choices, 0);
	m->groups = xcalloc(when->nesting_max, sizeof(*m->groups));
	m->here = xcalloc(positions, sizeof(*m->here));
	m->next = xcalloc(positions, sizeof(*m->next));
	m->next_set = xcalloc(m->word_count, sizeof(*m->next_set));
	m->first_ranked = xcalloc(positions + 1, sizeof(*m->first_ranked));
	m->next_ranked = xcalloc(positions, sizeof(*m->next_ranked));
	m->ends_thread = xcalloc(positions, sizeof(*m->ends_thread));
	find_ends(m);
	for (size_t i = 0; i < positions; i++)
		m->here[i] = no_way;
	for (size_t i = 0; i <= positions; i++)
		m->first_ranked[i] = NO_WAY;
}

static void match_deinit(struct match *m)
{
	free(m->first_child);
	free(m->next_child);
	free(m->matters);
	free(m->result);
	free(m->fits);
	child_table_deinit(&m->choices);
	vec_deinit(&m->standing);
	vec_deinit(&m->visits);
	free(m->ends_thread);
	free(m->groups);
	free(m->here);
	free(m->next);
	free(m->next_set);
	free(m->first_ranked);
	free(m->next_ranked);
}

void when_apply(const struct when *when, const struct profile *profile, const uint32_t *parent,
	uint32_t *shown)
{
	struct match m;

	match_init(&m, when, profile, parent, shown);
	vec_push(&m.visits, (struct visit){.stack = 0});
	while (m.visits.count > 0)
		visit_last(&m);
	for (size_t i = 0; i < profile->stack_count; i++) {
		if (SHOWN_IS_STACK(shown[i]))
			shown[i] = m.result[shown[i]];
		else if (shown[i] == SHOWN_SPONTANEOUS && m.result[0] == SHOWN_UNMATCHED)
			shown[i] = SHOWN_UNMATCHED;
	}
	match_deinit(&m);
}
