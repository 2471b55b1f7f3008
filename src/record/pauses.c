/*
 * Stretches of time that are left out.  There are few, so they are gone through from the last one,
 * near which all times lie that are asked for.
 */
#include "record/pauses.h"

void pauses_deinit(struct pauses *p)
{
	vec_deinit(&p->changes);
}

/* How many changes there were up to then: as many as are odd, and it is off. */
static size_t changes_until(const struct pauses *p, uint64_t time_ns)
{
	size_t count = p->changes.count;

	while (count > 0 && p->changes.data[count - 1] > time_ns)
		count--;
	return count;
}

bool pauses_is_off(const struct pauses *p, uint64_t time_ns)
{
	return changes_until(p, time_ns) % 2 == 1;
}

void pauses_set(struct pauses *p, uint64_t time_ns, bool off)
{
	p->changes.count = changes_until(p, time_ns);
	if ((p->changes.count % 2 == 1) != off)
		vec_push(&p->changes, time_ns);
}

void pauses_leave_out(struct pauses *p, uint64_t begin_ns, uint64_t until_ns)
{
	size_t past = changes_until(p, until_ns);
	struct pauses left = {0};

	vec_push(&left.changes, begin_ns);
	if (past % 2 == 0)
		vec_push(&left.changes, until_ns);
	for (size_t i = past; i < p->changes.count; i++)
		vec_push(&left.changes, p->changes.data[i]);
	pauses_deinit(p);
	*p = left;
}

uint64_t pauses_on_ns(const struct pauses *p, uint64_t from_ns, uint64_t to_ns, uint64_t *first_ns)
{
	uint64_t on_ns = 0, at_ns = from_ns;

	for (size_t i = changes_until(p, from_ns); at_ns < to_ns; i++) {
		uint64_t end_ns = i < p->changes.count && p->changes.data[i] < to_ns
					  ? p->changes.data[i]
					  : to_ns;

		if (i % 2 == 0 && end_ns > at_ns) {
			if (on_ns == 0)
				*first_ns = at_ns;
			on_ns += end_ns - at_ns;
		}
		at_ns = end_ns;
	}
	return on_ns;
}
