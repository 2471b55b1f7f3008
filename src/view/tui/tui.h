#ifndef SONDE_VIEW_TUI_TUI_H
#define SONDE_VIEW_TUI_TUI_H

/*
 * The terminal view of a running program's zones: `sonde live`.
 *
 * It shows what zonereport/ makes of the memory of zones; how programs are found, attached and
 * looked at it does not know: that is its caller's, who hands in these functions.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "zonereport/namer.h"
#include "zonereport/region.h"
#include "zonereport/report.h"

enum tui_state {
	TUI_RUNNING,
	TUI_STOPPED, /* by a signal or a debugger */
	TUI_ENDED,   /* gone; what is mapped is the last there is */
	TUI_SAVED,   /* a file: nothing runs */
};

/* A program with zones, to choose from.  Texts are raw bytes, NUL-terminated. */
struct tui_program {
	pid_t pid;
	enum tui_state state;
	char name[64];
	char command[256]; /* its command line, arguments parted by spaces; may be empty */
	uint32_t zones, threads;
	uint64_t ticks;	  /* ended so far, of the stream "frame" */
	char problem[96]; /* why it can not be attached; empty: it can */
};

struct tui_host {
	void *data; /* the first argument of all */
	/*
	 * The programs there are now, in any order; *programs is malloc'ed, the caller's.  Called
	 * once a second while the list is shown.
	 */
	struct error *(*list)(void *data, struct tui_program **programs, size_t *count);
	/*
	 * Attaches the program and gives its memory, which stays mapped until detach, also when the
	 * program ends; one at a time.  pid 0: what the command line named.
	 */
	struct error *(*attach)(void *data, pid_t pid, struct zone_region *region);
	void (*detach)(void *data);
	/*
	 * How the attached program is.  detail (raw bytes): more of it, such as "killed by
	 * SIGSEGV", empty where nothing is known.  Called a few times a second.
	 */
	enum tui_state (*state)(void *data, char *detail, size_t detail_bytes);
	/*
	 * Whether the program now has other memory of zones than the attached one: it has called
	 * exec.  attach (with the pid) gives it.  NULL: never.
	 */
	bool (*is_replaced)(void *data);
	/* The kernel's name of a thread of the attached program; empty: gone. */
	void (*thread_name)(void *data, int32_t tid, char *name, size_t name_bytes);
	/* Who names functions of the attached program; namer.name NULL: nobody. */
	struct zone_namer (*namer)(void *data);
	/* Writes the attached memory to a new file; an error if there is one of that name. */
	struct error *(*save)(void *data, const char *path);
};

struct tui_options {
	bool choose;	       /* begin with the list of programs; else attach pid 0 */
	bool no_color;	       /* also if the environment has NO_COLOR */
	unsigned interval_ms;  /* between two looks at the memory; 0: 100 */
	double freeze_over_ms; /* keep the frames when one takes longer; 0: never */
	/* What is shown at first, but for its focus and slot; NULL: as usual. */
	const struct zone_query *query;
	/* Of the first program: the focus, by name, and the thread, by name or tid; NULL: any. */
	const char *zone, *thread;
};

/* Whether this sonde has it: built with ncurses. */
bool tui_is_built(void);

/*
 * Shows it on the terminal of standard input and output until the user leaves, or SIGTERM, SIGINT
 * or SIGHUP come (*signal is then its number, else 0; the terminal is as it was).  What fails at
 * first comes back as error, what fails later is shown.  Without a terminal, and where it is not
 * built, ERROR_UNSUPPORTED.
 */
must_use struct error *tui_run(
	const struct tui_host *host, const struct tui_options *options, int *signal);

#endif
