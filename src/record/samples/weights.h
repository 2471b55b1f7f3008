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

/* Of a thread, or of the whole machine: what the system accounts, and what was clocked. */
struct weights_account {
	uint64_t ran_ns;       /* by the system, up to where the sums below begin */
	uint64_t asked_ns;     /* when the system was asked again; 0: it was not */
	uint64_t asked_ran_ns; /* what it said */
	uint64_t clocked_ns;   /* periods of the samples since */
	bool is_known;	       /* ran_ns is */
};

struct weights {
	uint64_t interval_ns;
	bool is_exact; /* periods are CPU time that was used: nothing is to be done */
	double factor; /* what a nanosecond of a period weighs */
	double rest_ns;
	double accounted_ns, clocked_ns;       /* so far, where both are known */
	double settled_ns, settled_clocked_ns; /* of samples that have been held against accounts */
	double forgone_ns;		       /* what lost samples would have weighed */
	double window_ns;		       /* clocked since the last look */
	uint64_t taken_ns, weighed_ns;	       /* periods of all samples so far; what these weigh */
	uint64_t lost;			       /* samples, at the last look */
};

void weights_init(struct weights *w, uint64_t interval_ns, bool is_exact);
/* The weight of a sample of that account. */
uint64_t weights_take(
	struct weights *w, struct weights_account *a, uint64_t time_ns, uint64_t period_ns);
/*
 * The system accounts so much to it at that time; all samples up to then need not be taken yet.  If
 * there are such samples since the last time it was asked, that answer stands.
 */
void weights_ask(struct weights_account *a, uint64_t now_ns, uint64_t ran_ns);
/* Whether there is anything new to be learnt by asking. */
bool weights_wants(const struct weights_account *a);
/* While the clock went on for so long, so much was accounted; where no account has samples of all.
 */
void weights_compare(struct weights *w, uint64_t accounted_ns, uint64_t clocked_ns);
/* What a nanosecond of the clock has been worth so far; 1 if that is not known yet. */
double weights_ratio(const struct weights *w);
/* To be called every now and then. lost: samples, so far. */
void weights_look(struct weights *w, uint64_t lost);
/*
 * Sampling has stopped.  In all, so much was accounted, for so long the clock went on, and so many
 * samples were lost.  If much is still to be taken, it weighs what the account lacks.
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
	uint64_t dropped; /* samples that others stand for */
};

/* Of a thread; zeroed at first. */
struct thinned {
	uint64_t carried_ns; /* what the samples dropped since the last one that was kept weigh */
	uint32_t carried;    /* how many these are */
	/* The last one that was kept. */
	bool has_kept;
	uint32_t node, cpu;
	uint64_t time_ns;
};

/* Whether a sample is dropped, with that part of the backlog in use; it is counted then. */
bool thinning_drops(struct thinning *t, struct thinned *thread, double level, uint64_t period_ns);
/* What the next sample weighs besides its own period. */
uint64_t thinned_take(struct thinned *thread);
/* A sample was kept. */
void thinned_keep(struct thinned *thread, uint32_t node, uint32_t cpu, uint64_t time_ns);

#endif
