/*
 * The choice between two sizes of stack copies, by what walks have needed.
 */
#include "record/engines/perf/clock_choice.h"

enum {
	PATIENCE_FIRST = 1024,
	PATIENCE_GROWTH = 4,
	PATIENCE_MAX = 1 << 18,
	/* Of so many walks, so many may need more than the small copy. */
	LOOK_AFTER = 1024,
	BEYOND_MAX = 1,
};

void clock_choice_init(struct clock_choice *c)
{
	*c = (struct clock_choice){.patience = PATIENCE_FIRST};
}

static void look_again(struct clock_choice *c)
{
	c->walks = c->beyond = 0;
}

static void choose(struct clock_choice *c, bool small)
{
	c->small = small;
	look_again(c);
}

static void give_up_small(struct clock_choice *c)
{
	choose(c, false);
	if (c->patience < PATIENCE_MAX)
		c->patience *= PATIENCE_GROWTH;
}

void clock_choice_walked(struct clock_choice *c, bool beyond)
{
	c->walks++;
	c->beyond += beyond;
	if (c->small) {
		if (c->beyond > BEYOND_MAX)
			give_up_small(c);
		else if (c->walks >= LOOK_AFTER)
			look_again(c);
	} else if (c->walks >= c->patience) {
		if (c->beyond == 0)
			choose(c, true);
		else
			look_again(c);
	}
}
