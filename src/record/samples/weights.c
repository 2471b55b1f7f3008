/*
 * A slow control loop.  A sample weighs its period times what a nanosecond of a period has been
 * worth so far, with a small correction so that the samples' debt to the account, or their excess,
 * disappears within a few checks.  Samples after the last reading of their account count with their
 * expected weight; otherwise the same debt would be paid again until the next reading.
 *
 * The account is read at a time of our choosing, when samples from before may still be in the
 * rings.  So the reading is compared with them when the first later sample comes.  If the recorder
 * falls behind, that is late, and at the end many samples are left; but then the sum that they must
 * have is known.
 */
#include "record/samples/weights.h"

#include <math.h>

#include "base/clock.h"

/* The limits of a nanosecond's worth: values beyond are due to loss, not to the clock. */
#define RATIO_MIN  0.8
#define RATIO_MAX  1.25
#define FACTOR_MIN 0.7
#define FACTOR_MAX 1.4
/* With less clocked time, its worth is unknown. */
#define INTERVALS_MIN 50
/* A debt is paid within this many checks, but at least this many intervals. */
#define LOOKS_TO_PAY	 5
#define INTERVALS_TO_PAY 100
/*
 * If a check is late, because something kept the recorder waiting, all samples until then get the
 * same factor, and the program may end soon after.  Such a debt is paid within one usual interval
 * between checks, until less than PAID_INTERVALS are left.
 */
#define LATE_NS	       (SECOND_NS / 2)
#define USUAL_NS       (SECOND_NS / 10)
#define PAID_INTERVALS 5
/*
 * The time left at the end is known from the clocks, which also continue when ticks are late or
 * missing.  So it is preferred to the factor, but only if it is at least this part of the total.
 */
#define LEFT_PART 5

void weights_init(struct weights *w, uint64_t interval_ns, bool is_exact)
{
	*w = (struct weights){
		.interval_ns = interval_ns, .is_exact = is_exact, .ratio = 1, .factor = 1};
}

static double between(double least, double x, double most)
{
	return x < least ? least : x > most ? most : x;
}

/* All samples from before the account was read have been taken. */
static void settle(struct weights *w, struct weights_account *a)
{
	if (a->is_known && a->asked_ran_ns >= a->ran_ns) {
		double accounted_ns = (double)(a->asked_ran_ns - a->ran_ns);

		w->accounted_ns += accounted_ns;
		w->clocked_ns += (double)a->clocked_ns;
		w->window_ns += (double)a->clocked_ns;
		w->settled_ns += accounted_ns;
		w->settled_clocked_ns += (double)a->clocked_ns;
	}
	*a = (struct weights_account){.ran_ns = a->asked_ran_ns, .is_known = true};
}

/* A sample's part of the debt, and no more than is left, however late the next check is. */
static double paid_ns(struct weights *w, uint64_t period_ns)
{
	double part_ns = (double)period_ns * (w->factor - w->ratio);

	if (fabs(part_ns) > fabs(w->owes_ns))
		part_ns = w->owes_ns;
	w->owes_ns -= part_ns;
	return part_ns;
}

uint64_t weights_take(
	struct weights *w, struct weights_account *a, uint64_t time_ns, uint64_t period_ns)
{
	if (w->is_exact)
		return period_ns;
	if (a->asked_ns && time_ns > a->asked_ns)
		settle(w, a);
	double weight_ns = (double)period_ns * w->ratio + paid_ns(w, period_ns) + w->rest_ns;
	uint64_t whole_ns = weight_ns > 0 ? (uint64_t)weight_ns : 0;

	w->rest_ns = weight_ns - (double)whole_ns;
	a->clocked_ns += period_ns;
	w->taken_ns += period_ns;
	w->weighed_ns += whole_ns;
	return whole_ns;
}

bool weights_wants(const struct weights_account *a)
{
	return a->clocked_ns > 0 && a->asked_ns == 0;
}

void weights_ask(struct weights_account *a, uint64_t now_ns, uint64_t ran_ns)
{
	if (a->asked_ns)
		return;
	a->asked_ns = now_ns;
	a->asked_ran_ns = ran_ns;
}

void weights_compare(struct weights *w, uint64_t accounted_ns, uint64_t clocked_ns)
{
	w->accounted_ns += (double)accounted_ns;
	w->clocked_ns += (double)clocked_ns;
}

/* Lost samples are in the account, but other samples must not compensate for them. */
static void take_lost(struct weights *w, uint64_t lost, double ratio)
{
	if (lost <= w->lost)
		return;
	double lost_ns = (double)(lost - w->lost) * (double)w->interval_ns;

	w->lost = lost;
	w->clocked_ns += lost_ns;
	w->forgone_ns += lost_ns * ratio;
}

double weights_ratio(const struct weights *w)
{
	if (w->clocked_ns < INTERVALS_MIN * (double)w->interval_ns)
		return 1;
	return between(RATIO_MIN, w->accounted_ns / w->clocked_ns, RATIO_MAX);
}

/* How much more samples should have weighed so far. */
static double debt_ns(const struct weights *w, double ratio)
{
	double open_ns = (double)w->taken_ns - w->settled_clocked_ns;

	return w->settled_ns - w->forgone_ns + open_ns * ratio - (double)w->weighed_ns;
}

static void look_for_lateness(struct weights *w, uint64_t now_ns, double owes_ns)
{
	if (w->began_ns == 0)
		w->began_ns = w->looked_ns = now_ns;
	if (now_ns - w->looked_ns > LATE_NS) {
		w->is_late = true;
		w->late_clocked_ns = w->settled_clocked_ns;
	} else if (w->settled_clocked_ns > w->late_clocked_ns &&
		   fabs(owes_ns) < PAID_INTERVALS * (double)w->interval_ns) {
		w->is_late = false;
	}
	w->looked_ns = now_ns;
}

/* What is clocked between two checks, on average. */
static double usual_window_ns(const struct weights *w, uint64_t now_ns)
{
	if (now_ns == w->began_ns)
		return 0;
	return (double)w->taken_ns * USUAL_NS / (double)(now_ns - w->began_ns);
}

void weights_look(struct weights *w, uint64_t now_ns, uint64_t lost)
{
	double interval_ns = (double)w->interval_ns, ratio = weights_ratio(w);

	if (w->is_exact)
		return;
	take_lost(w, lost, ratio);
	double owes_ns = debt_ns(w, ratio), pay_ns = LOOKS_TO_PAY * w->window_ns;

	look_for_lateness(w, now_ns, owes_ns);
	if (w->is_late)
		pay_ns = usual_window_ns(w, now_ns);
	if (pay_ns < INTERVALS_TO_PAY * interval_ns)
		pay_ns = INTERVALS_TO_PAY * interval_ns;
	w->ratio = ratio;
	w->owes_ns = owes_ns;
	w->factor = between(FACTOR_MIN, ratio + owes_ns / pay_ns, FACTOR_MAX);
	w->window_ns = 0;
}

void weights_end(struct weights *w, uint64_t accounted_ns, uint64_t clocked_ns, uint64_t lost)
{
	double interval_ns = (double)w->interval_ns, lost_ns = (double)lost * interval_ns;
	double left_ns = (double)clocked_ns - (double)w->taken_ns - lost_ns;

	if (w->is_exact || left_ns < INTERVALS_TO_PAY * interval_ns ||
		LEFT_PART * left_ns < (double)clocked_ns)
		return;
	double ratio = between(RATIO_MIN, (double)accounted_ns / (double)clocked_ns, RATIO_MAX);
	double lacks_ns = (double)accounted_ns - (double)w->weighed_ns - lost_ns * ratio;

	w->ratio = w->factor = between(FACTOR_MIN, lacks_ns / left_ns, FACTOR_MAX);
}

/* ---- thinning ---- */

/*
 * A thread's first sample is always kept, so that dropped ones have a stack even if no other sample
 * follows.
 */

/* From each level of the backlog on, one sample in so many is kept. */
static const struct {
	double level;
	uint32_t one_in;
} steps[] = {{0.75, 16}, {0.625, 8}, {0.5, 4}, {0.25, 2}};

static uint32_t one_in(double level)
{
	for (unsigned int i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (level >= steps[i].level)
			return steps[i].one_in;
	return 1;
}

bool thinning_drops(struct thinning *t, struct thinned *thread, double level, uint64_t period_ns)
{
	if (!thread->has_kept || thread->carried + 1 >= one_in(level))
		return false;
	thread->carried_ns += period_ns;
	thread->carried++;
	t->dropped++;
	return true;
}

uint64_t thinned_take(struct thinned *thread)
{
	uint64_t carried_ns = thread->carried_ns;

	thread->carried_ns = 0;
	thread->carried = 0;
	return carried_ns;
}

void thinned_keep(struct thinned *thread, uint32_t node, uint32_t cpu, uint64_t time_ns)
{
	thread->has_kept = true;
	thread->node = node;
	thread->cpu = cpu;
	thread->time_ns = time_ns;
}
