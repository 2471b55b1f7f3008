/* A list that is added up: the source that annotate.golden shows. */

/* Adds up what is in a list; inlined. */
static inline long sum(const struct list *l)
{
	long s = 0;

	for (; l; l = l->next)
		s += mix(l->value);
	return s;
}

long work(struct list *l, int depth)
{
	long s = sum(l); /* the hot line */

	if (depth > 0)
		s += work(l->next, depth - 1);
	return s;
}
