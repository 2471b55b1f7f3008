/*
 * Nearest name, by the Damerau-Levenshtein distance in its restricted form ("optimal string
 * alignment"): F. J. Damerau, "A technique for computer detection and correction of spelling
 * errors", CACM 7(3), 1964, found that four in five misspellings are one wrong, missing or extra
 * letter, or two transposed neighbours; this counts exactly those edits.
 *
 * Only three rows of the usual table are kept, since a transposition looks two rows back.
 */

#include "base/nearest.h"

#include <stdlib.h>

#include "base/alloc.h"

/* Longer names are not typed by hand, and would only cost time. */
#define NAME_SIZE_MAX 512

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

static bool is_transposed(struct str a, struct str b, size_t i, size_t j)
{
	return i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1];
}

size_t nearest_distance(struct str a, struct str b)
{
	size_t width = b.size + 1;
	size_t *table = xcalloc(3, width * sizeof(size_t));
	size_t *before = table, *above = table + width, *row = table + 2 * width;
	size_t distance;

	for (size_t j = 0; j <= b.size; j++)
		row[j] = j;
	for (size_t i = 1; i <= a.size; i++) {
		size_t *oldest = before;

		before = above;
		above = row;
		row = oldest;
		row[0] = i;
		for (size_t j = 1; j <= b.size; j++) {
			size_t change = a.data[i - 1] == b.data[j - 1] ? 0 : 1;

			row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + change);
			if (is_transposed(a, b, i, j) && before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
	}
	distance = row[b.size];
	free(table);
	return distance;
}

/* The distance that is too far: one edit in three letters is a typo; more is another word. */
static size_t too_far(struct str wanted)
{
	return (wanted.size + 2) / 3 + 1;
}

/* The candidate's distance; SIZE_MAX if it is not a candidate. */
static size_t distance_of(struct str wanted, struct str candidate)
{
	size_t distance;

	if (wanted.size == 0 || wanted.size > NAME_SIZE_MAX || candidate.size > NAME_SIZE_MAX)
		return SIZE_MAX;
	/* An incomplete word is as near as one typo. */
	if (wanted.size > 1 && str_starts_with(candidate, wanted))
		distance = 1;
	else
		distance = nearest_distance(wanted, candidate);
	/* As many edits as letters is no similarity at all. */
	return distance < candidate.size ? distance : SIZE_MAX;
}

void nearest_init(struct nearest *n, struct str wanted)
{
	*n = (struct nearest){.wanted = wanted, .best_distance = too_far(wanted)};
}

void nearest_offer(struct nearest *n, struct str candidate)
{
	size_t distance = distance_of(n->wanted, candidate);

	if (distance < n->best_distance) {
		n->best = candidate;
		n->best_distance = distance;
	}
}

void nearest_few_init(struct nearest_few *n, struct str wanted)
{
	*n = (struct nearest_few){.wanted = wanted};
}

void nearest_few_offer(struct nearest_few *n, struct str candidate)
{
	size_t distance = distance_of(n->wanted, candidate);
	size_t at = n->count;

	if (distance >= too_far(n->wanted))
		return;
	for (size_t i = 0; i < n->count; i++)
		if (str_equal(n->names[i], candidate))
			return;
	if (n->count < NEAREST_FEW)
		n->count++;
	else if (distance >= n->distances[--at])
		return;
	for (; at > 0 && n->distances[at - 1] > distance; at--) {
		n->names[at] = n->names[at - 1];
		n->distances[at] = n->distances[at - 1];
	}
	n->names[at] = candidate;
	n->distances[at] = distance;
}

void nearest_few_put(const struct nearest_few *n, struct strbuf *out)
{
	for (size_t i = 0; i < n->count; i++) {
		if (i == 0)
			strbuf_add(out, STR("; did you mean '"));
		else
			strbuf_add(out, i + 1 == n->count ? STR("' or '") : STR("', '"));
		strbuf_add(out, n->names[i]);
	}
	if (n->count)
		strbuf_add(out, STR("'?"));
}
