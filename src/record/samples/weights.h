#ifndef SONDE_RECORD_SAMPLES_WEIGHTS_H
#define SONDE_RECORD_SAMPLES_WEIGHTS_H

/*
 * The weights of clock samples: the CPU time that the system accounts for each.  That is close to
 * the clock's period, but not the same: the clock also runs while the host has taken the CPU away,
 * and is late if interrupts are disabled.  So the sampled threads' accounts are read repeatedly,
 * and weights are chosen so that their sum follows the accounts.
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
	uint64_t clocked_ns;   /* periods of the samples since then */
	bool is_known;	       /* ran_ns is known */
};

struct weights {
	uint64_t interval_ns;
	bool is_exact;	/* periods are CPU time used: no correction */
	double ratio;	/* what a nanosecond of a period has been worth */
	double factor;	/* the weight of one until the debt is paid */
	double owes_ns; /* that debt */
	double rest_ns;
	double accounted_ns, clocked_ns; /* so far, as far as both are known */
	double settled_ns,
		settled_clocked_ns;    /* of samples that have been compared with accounts */
	double forgone_ns;	       /* what lost samples would have weighed */
	double window_ns;	       /* clocked since the last check */
	uint64_t began_ns, looked_ns;  /* the first check, the last check; 0: there was none */
	bool is_late;		       /* a check was late, and its debt is not paid yet */
	double late_clocked_ns;	       /* settled_clocked_ns at that check */
	uint64_t taken_ns, weighed_ns; /* periods of all samples so far; their weight */
	uint64_t lost;		       /* lost samples, at the last check */
};

void weights_init(struct weights *w, uint64_t interval_ns, bool is_exact);
/* The weight of a sample with that account. */
uint64_t weights_take(
	struct weights *w, struct weights_account *a, uint64_t time_ns, uint64_t period_ns);
/*
 * Reports that the system accounts ran_ns at now_ns; samples up to then may still be in the rings.
 * Ignored if the previous reading has not been compared yet.
 */
void weights_ask(struct weights_account *a, uint64_t now_ns, uint64_t ran_ns);
/* Whether reading the account again would give new information. */
bool weights_wants(const struct weights_account *a);
/*
 * While the clock advanced by clocked_ns, accounted_ns were accounted; used if samples do not cover
 * any account.
 */
void weights_compare(struct weights *w, uint64_t accounted_ns, uint64_t clocked_ns);
/* The worth of a nanosecond of the clock so far; 1 if unknown. */
double weights_ratio(const struct weights *w);
/* Call it about ten times a second, with CLOCK_MONOTONIC.  lost: total lost samples. */
void weights_look(struct weights *w, uint64_t now_ns, uint64_t lost);
/*
 * Sampling has stopped, with these totals of accounted time, clocked time and lost samples.  If
 * many samples are still to be taken, they get the weight that the account lacks.
 */
void weights_end(struct weights *w, uint64_t accounted_ns, uint64_t clocked_ns, uint64_t lost);

/* ---- thinning ---- */

/*
 * While samples come faster than they can be walked, some are dropped.  The more of the backlog is
 * in use, the fewer samples of a thread are walked, and each of these also gets the weight of the
 * dropped ones before it.  So sums stay exact, and nothing is lost as long as that is enough.
 */

struct thinning {
	uint64_t dropped; /* dropped samples, represented by others */
};

/* Of a thread; zeroed at first. */
struct thinned {
	uint64_t carried_ns; /* weight of the samples dropped since the last kept one */
	uint32_t carried;    /* their number */
	/* The last one kept. */
	bool has_kept;
	uint32_t node, cpu;
	uint64_t time_ns;
};

/* Whether to drop a sample, with `level` of the backlog in use; if so, counts it. */
bool thinning_drops(struct thinning *t, struct thinned *thread, double level, uint64_t period_ns);
/* The weight to add to the next sample's own period. */
uint64_t thinned_take(struct thinned *thread);
/* Registers a kept sample. */
void thinned_keep(struct thinned *thread, uint32_t node, uint32_t cpu, uint64_t time_ns);

#endif
