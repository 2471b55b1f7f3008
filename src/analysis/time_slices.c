/* Weights by slices of time.  See time_slices.h. */
#include "analysis/time_slices.h"

static const int64_t *weights_of(const struct profile *p, struct str name)
{
	metric_id metric;

	return profile_find_metric(p, name, &metric) ? p->samples.weight[metric.i] : NULL;
}

struct time_lasting time_lasting_of(const struct profile *profile)
{
	struct time_lasting lasting = {.samples = &profile->samples};

	if (profile->samples.count) {
		lasting.cpu = weights_of(profile, STR("cpu-time"));
		lasting.real = weights_of(profile, STR("real-time"));
	}
	return lasting;
}

uint64_t time_lasting_ns(const struct time_lasting *lasting, size_t sample)
{
	const int64_t *cpu = lasting->cpu, *real = lasting->real;
	bool is_off = cpu && real && cpu[sample] == 0 && real[sample] > 0;
	uint64_t lasts_ns = is_off ? (uint64_t)real[sample] : 0;
	uint64_t most_ns = UINT64_MAX - lasting->samples->time_ns[sample];

	return lasts_ns < most_ns ? lasts_ns : most_ns;
}

/* weight * part / whole, rounded towards zero. */
static int64_t share(int64_t weight, uint64_t part, uint64_t whole)
{
	return (int64_t)((__int128)weight * (__int128)part / (__int128)whole);
}

/* What of the weight is before a moment. */
static int64_t before(uint64_t moment_ns, uint64_t time_ns, uint64_t lasts_ns, int64_t weight)
{
	if (moment_ns <= time_ns)
		return 0;
	if (moment_ns - time_ns >= lasts_ns)
		return weight;
	return share(weight, moment_ns - time_ns, lasts_ns);
}

void time_slices_add(const struct time_slices *slices, int64_t *weights, uint64_t time_ns,
	uint64_t lasts_ns, int64_t weight)
{
	uint64_t begin_ns = slices->begin_ns, slice_ns = slices->slice_ns;
	uint64_t at = time_ns > begin_ns ? (time_ns - begin_ns) / slice_ns : 0;
	int64_t given;

	if (lasts_ns == 0) {
		if (time_ns >= begin_ns && at < slices->count)
			weights[at] += weight;
		return;
	}
	given = before(begin_ns + at * slice_ns, time_ns, lasts_ns, weight);
	for (; at < slices->count && given != weight; at++) {
		int64_t until = before(begin_ns + (at + 1) * slice_ns, time_ns, lasts_ns, weight);

		weights[at] += until - given;
		given = until;
	}
}
