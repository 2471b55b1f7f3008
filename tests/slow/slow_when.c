/*
 * WHEN as its definition says it.
 */
#include "slow_when.h"

#include "base/vec.h"

struct slow_atom {
	char kind; /* '*', 'f' one frame, 'r' a run */
	struct slow_frame frame;
	bool left_colon, right_colon;
	uint32_t begin, end; /* the frames that it took, where it matched */
};

struct slow_thread {
	VEC(struct slow_atom) atoms;
};

struct slow_threads {
	VEC(struct slow_thread) threads;
};

static void threads_free(struct slow_threads *t)
{
	for (size_t i = 0; i < t->threads.count; i++)
		vec_deinit(&t->threads.data[i].atoms);
	vec_deinit(&t->threads);
}

static void thread_append(struct slow_thread *to, const struct slow_thread *from)
{
	for (size_t i = 0; i < from->atoms.count; i++)
		vec_push(&to->atoms, from->atoms.data[i]);
}

/* Each of a followed by each of b, those of a slowest. */
static struct slow_threads product(struct slow_threads *a, struct slow_threads *b)
{
	struct slow_threads all = {0};

	for (size_t i = 0; i < a->threads.count; i++) {
		for (size_t k = 0; k < b->threads.count; k++) {
			struct slow_thread thread = {0};
			thread_append(&thread, &a->threads.data[i]);
			thread_append(&thread, &b->threads.data[k]);
			vec_push(&all.threads, thread);
		}
	}
	threads_free(a);
	threads_free(b);
	return all;
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static struct slow_threads read_frames(const char **text)
{
	struct slow_atom atom = {.kind = 'r'};
	struct slow_thread thread = {0};
	struct slow_threads result = {0};

	if (**text == '*') {
		atom.kind = '*';
		++*text;
	} else {
		atom.left_colon = **text == ':';
		*text += atom.left_colon;
		if (is_name(**text))
			atom.frame.module = *(*text)++;
		if (**text == '.') {
			atom.kind = 'f';
			atom.frame.procedure = (*text)[1];
			*text += 2;
		}
		atom.right_colon = **text == ':';
		*text += atom.right_colon;
	}
	vec_push(&thread.atoms, atom);
	vec_push(&result.threads, thread);
	return result;
}

static struct slow_threads read_pattern(const char **text);

static struct slow_threads read_primary(const char **text)
{
	if (**text != '(')
		return read_frames(text);
	++*text;
	struct slow_threads inner = read_pattern(text);
	++*text;
	return inner;
}

static struct slow_threads read_thread(const char **text)
{
	struct slow_threads left = read_primary(text);

	while (**text == '-') {
		*text += 2;
		struct slow_threads right = read_primary(text);
		left = product(&left, &right);
	}
	return left;
}

static struct slow_threads read_pattern(const char **text)
{
	struct slow_threads all = read_thread(text);

	while (**text == '|') {
		++*text;
		struct slow_threads more = read_thread(text);
		for (size_t i = 0; i < more.threads.count; i++)
			vec_push(&all.threads, more.threads.data[i]);
		vec_deinit(&more.threads);
	}
	return all;
}

static bool frame_fits(const struct slow_atom *atom, struct slow_frame frame)
{
	return (atom->frame.module == 0 || atom->frame.module == frame.module) &&
	       (atom->frame.procedure == 0 || atom->frame.procedure == frame.procedure);
}

/* The atoms from `at` on against the frames from `begin` on, shortest first. */
static bool align(struct slow_thread *thread, size_t at, const struct slow_frame *stack,
	uint32_t depth, uint32_t begin)
{
	if (at == thread->atoms.count)
		return begin == depth;
	struct slow_atom *atom = &thread->atoms.data[at];
	uint32_t most = atom->kind == 'f' ? 1 : depth;

	for (uint32_t size = 0; size <= most; size++) {
		if (size > 0 &&
			(begin + size > depth ||
				(atom->kind != '*' && !frame_fits(atom, stack[begin + size - 1]))))
			return false;
		if (size == 0 && atom->kind != '*')
			continue;
		atom->begin = begin;
		atom->end = begin + size;
		if (align(thread, at + 1, stack, depth, begin + size))
			return true;
	}
	return false;
}

static uint32_t charge(const struct slow_thread *thread, uint32_t depth, bool *spontaneous)
{
	for (size_t i = 0; i < thread->atoms.count; i++) {
		const struct slow_atom *atom = &thread->atoms.data[i];

		*spontaneous = atom->left_colon && atom->begin == 0;
		if (atom->left_colon)
			return atom->begin;
		if (atom->right_colon)
			return atom->end;
	}
	return depth;
}

uint32_t slow_when(
	const char *pattern, const struct slow_frame *stack, uint32_t depth, bool *spontaneous)
{
	struct slow_threads all = read_pattern(&pattern);
	uint32_t result = SLOW_WHEN_UNMATCHED;

	*spontaneous = false;
	for (size_t i = 0; i < all.threads.count && result == SLOW_WHEN_UNMATCHED; i++)
		for (uint32_t begin = 0; begin <= depth && result == SLOW_WHEN_UNMATCHED; begin++)
			if (align(&all.threads.data[i], 0, stack, depth, begin))
				result = charge(&all.threads.data[i], depth, spontaneous);
	threads_free(&all);
	return result;
}

size_t slow_when_threads(const char *pattern)
{
	struct slow_threads all = read_pattern(&pattern);
	size_t count = all.threads.count;

	threads_free(&all);
	return count;
}
