#ifndef SONDE_ANALYSIS_FILTER_H
#define SONDE_ANALYSIS_FILTER_H

/*
 * One filter: which samples are shown, and how much of their stacks.
 *
 * when	   what a WHEN pattern matches, charged as it says (semantics.md section 4)
 * focus   stacks that hold a function that the regular expression matches
 * ignore  stacks that hold none
 * hide	   all stacks, without the frames that it matches: their weight goes to their callers
 * fold	   the same, of the functions of a namespace
 * inline  no: the same, of inlined calls, so that the functions that have code of their own remain
 * kernel  all stacks, without the kernel's frames, or with only the system call's
 * thread, pid, time: samples by where and when they were taken
 * zone	   samples taken in a zone that the regular expression matches, or in one below it
 * tick, tick-over, tick-under: samples by which tick they were taken in (analysis/ticks.h), by its
 *	   number or by how long it took
 * label   samples that have a label of that key, with a value that the regular expression matches
 * cgroup  samples of processes in one of these control groups (base/cgroup.h)
 *
 * To add one: a row in enum filter_kind and filter_names, what it keeps in selection.c or, of
 * samples, in selection_samples.c, its option row in session/filter_options.c.
 */

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "analysis/when.h"

enum filter_kind {
	FILTER_WHEN,
	FILTER_FOCUS,
	FILTER_IGNORE,
	FILTER_HIDE,
	FILTER_FOLD,
	FILTER_INLINE, /* present only if inlined calls are left out */
	FILTER_KERNEL,
	FILTER_THREAD,
	FILTER_PID,
	FILTER_TIME,
	FILTER_ZONE,
	FILTER_TICK,
	FILTER_TICK_OVER,
	FILTER_TICK_UNDER,
	FILTER_LABEL,
	FILTER_CGROUP,
	FILTER_COUNT
};
/* As their options are called: "when", "focus" … "cgroup". */
extern const char *const filter_names[FILTER_COUNT + 1]; /* NULL at the end */

/* Functions by name. */
struct name_pattern {
	char *text; /* as given */
	struct regex *regex;
	bool with_module; /* match "module`name", as the expression contains a ` */
	bool gave_up;	  /* a match took too many steps; nothing matches from then on */
};

/* The ticks that a filter keeps. */
struct filter_ticks {
	struct str stream; /* borrowed; data NULL: the default one (analysis/ticks.h) */
	/*
	 * FILTER_TICK: from ≤ number < to; a negative number counts from the end of the process's
	 * ticks: -1 is the last one.  INT64_MIN and INT64_MAX: unbounded.
	 */
	int64_t from, to;
	uint64_t duration_ns; /* over: those that took at least this; under: all others */
};

/* Which kernel frames below the program's own are kept. */
enum filter_kernel {
	KERNEL_ALL,
	KERNEL_SYSCALLS,
	KERNEL_NONE,
};
/* "all", "syscalls", "none". */
extern const char *const filter_kernel_names[]; /* NULL at the end */

struct filter {
	enum filter_kind kind;
	const char *text;	    /* as given, for display; borrowed */
	struct when *when;	    /* FILTER_WHEN */
	struct name_pattern *names; /* focus, ignore, hide, zone; label: NULL, any value */
	enum filter_kernel kernel;  /* FILTER_KERNEL; text is its name */
	/* thread, pid: numbers or names; fold: namespaces; cgroup: names; label: its key; in text
	 */
	VEC(struct str) ids;
	/* FILTER_TIME: since the profile's start, from_ns ≤ t < to_ns. */
	uint64_t from_ns, to_ns;
	struct filter_ticks ticks; /* FILTER_TICK, FILTER_TICK_OVER, FILTER_TICK_UNDER */
};

/*
 * Compiles a regular expression (base/regex.h), which matches anywhere in a function's whole name,
 * or in one of its aliases; one with a backquote, in "module`name".  ERROR_USAGE if it is invalid.
 */
must_use struct error *name_pattern_create(const char *text, struct name_pattern **pattern);
/* Whether it matches just that text, NUL-terminated. */
bool name_pattern_matches_text(struct name_pattern *pattern, const char *text);
/* NULL, or ERROR_USAGE if it gave up, so that its matches are not reliable. */
must_use struct error *name_pattern_refusal(const struct name_pattern *pattern);
void name_pattern_destroy(struct name_pattern *pattern);
/* [function]: whether it matches.  Lives in the arena. */
must_use bool *name_pattern_matches(
	struct name_pattern *pattern, const struct profile *profile, struct arena *arena);

void filter_init_kernel(struct filter *f, enum filter_kernel kernel);
/*
 * text is borrowed.  For focus, ignore, hide and zone it is a regular expression, for thread and
 * pid numbers or names with commas, for cgroup names with commas, for label KEY or KEY=REGEX.
 * ERROR_USAGE if it is not.
 */
must_use struct error *filter_init(struct filter *f, enum filter_kind kind, const char *text);
must_use struct error *filter_init_when(struct filter *f, const char *text, enum when_modules by);
/* For a time filter, whose text the caller has parsed. */
void filter_init_time(struct filter *f, const char *text, uint64_t from_ns, uint64_t to_ns);
/* The same for a kind that looks at ticks. */
void filter_init_ticks(struct filter *f, enum filter_kind kind, const char *text,
	const struct filter_ticks *ticks);
void filter_deinit(struct filter *f);

#endif
