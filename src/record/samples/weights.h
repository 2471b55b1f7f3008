#ifndef SONDE_RECORD_SAMPLES_WEIGHTS_H
#define SONDE_RECORD_SAMPLES_WEIGHTS_H

/*
 * What samples of the clock weigh: the CPU time that the system accounts for each.  That is near
 * the clock's period, but not the same: the clock also runs while the host has taken the CPU away,
 * and is late where interrupts are off.  So the sampled threads' accounts are read again and again,
 * and samples weigh what makes their sum follow them.
 *
 * Lost time, and time that was never sampled, does not add to the weights of other samples.
 */

#include <stdbool.h>
#include <stdint.h>

/*
 * The account of a thread, a process or the machine: what the system accounts, and what was
 * clocked.
 */
struct weights_account {
	uint64_t ran_ns;       /* by the system, up to the start of the sums below */
	uint64_t asked_ns;     /* when the account was read again; 0: it was not */
	uint64_t asked_ran_ns; /* the result */
	uint64_t clocked_ns;   /* periods of the samples since */
	bool is_known;	       /* ran_ns is known */
};

struct weights {
	uint64_t interval_ns;
	bool is_exact; /* periods are CPU time that was used: no correction */
	double factor; /* what a nanosecond of a period weighs */
	double rest_ns;
	double accounted_ns, clocked_ns; /* so far, as far as both are known */
	double settled_ns,
		settled_clocked_ns;    /* of samples that have been compared with accounts */
	double forgone_ns;	       /* what lost samples would have weighed */
	double window_ns;	       /* clocked since the last look */
	uint64_t taken_ns, weighed_ns; /* periods of all samples so far; what these weigh */
	uint64_t lost;		       /* lost samples, at the last look */
};

void weights_init(struct weights *w, uint64_t interval_ns, bool is_exact);
/* The weight of a sample with that account. */
uint64_t weights_take(
	struct weights *w, struct weights_account *a, uint64_t time_ns, uint64_t period_ns);
/*
 * Reports that the system accounts ran_ns at now_ns; samples up to then may still be in the rings.
 * Ignored if the last reading has not been compared yet.
 */
void weights_ask(struct weights_account *a, uint64_t now_ns, uint64_t ran_ns);
/* Whether reading the account again would say anything new. */
bool weights_wants(const struct weights_account *a);
/*
 * While the clock went on for clocked_ns, accounted_ns were accounted; where samples do not cover
 * any account.
 */
void weights_compare(struct weights *w, uint64_t accounted_ns, uint64_t clocked_ns);
/* What a nanosecond of the clock has been worth so far; 1 if unknown yet. */
double weights_ratio(const struct weights *w);
/* Call it now and then.  lost: samples so far. */
void weights_look(struct weights *w, uint64_t lost);
/*
 * Sampling has stopped, with these totals of accounted time, clocked time and lost samples.  If
 * many samples are still to be taken, they weigh what the account lacks.
 */
void weights_end(struct weights *w, uint64_t accounted_ns, uint64_t clocked_ns, uint64_t lost);

/* ---- thinning ---- */

/*
 * While samples come faster than they can be walked, some are dropped: the more of the backlog is
 * in use, the fewer samples of a thread are walked, and each of these also weighs what the dropped
 * ones before it would have weighed.  So sums stay exact, and nothing is lost as long as that is
 * enough.
 */

struct thinning {
	uint64_t dropped; /* dropped samples, which others stand for */
};

/* Of a thread; zeroed at first. */
struct thinned {
	uint64_t carried_ns; /* weight of the samples dropped since the last kept one */
	uint32_t carried;    /* their number */
	/* The last kept one. */
	bool has_kept;
	uint32_t node, cpu;
	uint64_t time_ns;
};

/* Whether to drop a sample with that part of the backlog in use; counts it then. */
bool thinning_drops(struct thinning *t, struct thinned *thread, double level, uint64_t period_ns);
/* What the next sample weighs in addition to its own period. */
uint64_t thinned_take(struct thinned *thread);
/* Notes a kept sample. */
void thinned_keep(struct thinned *thread, uint32_t node, uint32_t cpu, uint64_t time_ns);

#endif
