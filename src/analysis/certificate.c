/*
 * Judges a recording by its own statistics.  See certificate.h.
 */
#include "analysis/certificate.h"

#include <math.h>

static void find(struct certificate *c, enum certificate_flaw flaw, double part, double most)
{
	c->part[flaw] = part;
	c->has[flaw] = part > most;
}

static double part_of(uint64_t some, uint64_t all)
{
	return some == UINT64_MAX || all == UINT64_MAX || all == 0 ? 0 : (double)some / (double)all;
}

/* The samples counted as lost, or those that were due and are missing. */
static double lost_part(const struct profile_stats *s)
{
	uint64_t due =
		s->expected > s->counted && s->expected != UINT64_MAX ? s->expected : s->counted;
	uint64_t missing = due - s->counted;

	if (s->lost != UINT64_MAX && s->lost > missing)
		return part_of(s->lost, s->counted + s->lost);
	return part_of(missing, due);
}

/* The samples' weight compared with the system's CPU time. */
static double account_part(const struct profile *p)
{
	double used_ns = (double)p->stats.cpu_ns;
	metric_id metric;

	if (p->stats.cpu_ns == UINT64_MAX || p->stats.cpu_ns == 0 ||
		!profile_find_metric(p, STR("cpu-time"), &metric))
		return 0;
	return fabs((double)p->total[metric.i] - used_ns) / used_ns;
}

struct certificate certificate_of(const struct profile *p)
{
	const struct profile_stats *s = &p->stats;
	struct certificate c = {.is_known = s->counted != UINT64_MAX && s->expected != UINT64_MAX};

	if (!c.is_known)
		return c;
	c.part[CERTIFICATE_FEW] = (double)s->counted;
	c.has[CERTIFICATE_FEW] = s->counted < CERTIFICATE_SAMPLES_MIN;
	if (c.has[CERTIFICATE_FEW])
		return c;
	find(&c, CERTIFICATE_LOST, lost_part(s), CERTIFICATE_LOST_MAX);
	find(&c, CERTIFICATE_CUT, part_of(s->critical, s->counted), CERTIFICATE_CUT_MAX);
	c.guessed = part_of(s->guessed, s->counted);
	find(&c, CERTIFICATE_ACCOUNT, account_part(p), CERTIFICATE_ACCOUNT_MAX);
	return c;
}

bool certificate_is_fit(const struct certificate *c)
{
	for (size_t i = 0; i < CERTIFICATE_FLAWS; i++)
		if (c->has[i])
			return false;
	return true;
}

/* What makes stacks whole depends on why they are not. */
static const char *cut_text(const struct certificate *c, struct arena *arena)
{
	double part = c->part[CERTIFICATE_CUT];

	if (c->guessed <= part - c->guessed)
		return arena_printf(arena,
			"%.1f%% of its stacks are truncated or guessed: its notes say why, and "
			"sonde doctor what this machine allows",
			100 * part);
	return arena_printf(arena,
		"%.1f%% of its stacks are guessed or truncated: a jitdump makes the callers of "
		"generated code certain (node --perf-prof)",
		100 * part);
}

static const char *flaw_text(
	const struct certificate *c, enum certificate_flaw flaw, struct arena *arena)
{
	double percent = 100 * c->part[flaw];

	switch (flaw) {
	case CERTIFICATE_LOST:
		return arena_printf(arena,
			"%.1f%% of its samples are missing: record on a quieter machine, or at a "
			"lower rate (-F)",
			percent);
	case CERTIFICATE_CUT:
		return cut_text(c, arena);
	case CERTIFICATE_ACCOUNT:
		return arena_printf(arena,
			"its samples are %.1f%% off the CPU time that the system accounts: record "
			"on "
			"a quieter machine",
			percent);
	case CERTIFICATE_FEW:
		return arena_printf(arena,
			"it has %.0f samples: record for longer, or at a higher rate (-F)",
			c->part[flaw]);
	case CERTIFICATE_FLAWS:
		break;
	}
	return NULL;
}

const char *certificate_text(const struct certificate *c, struct arena *arena)
{
	const char *text = NULL;
	size_t more = 0;

	for (enum certificate_flaw flaw = 0; flaw < CERTIFICATE_FLAWS; flaw++) {
		if (!c->has[flaw])
			continue;
		more += text != NULL;
		text = text ? text : flaw_text(c, flaw, arena);
	}
	return more ? arena_printf(arena, "%s; and %zu more", text, more) : text;
}
