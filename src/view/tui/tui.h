#ifndef SONDE_VIEW_TUI_TUI_H
#define SONDE_VIEW_TUI_TUI_H

/*
 * The terminal view of a running program's zones: `sonde live`.
 *
 * It shows the results of zonereport/ from the zones memory.  It does not know how programs are
 * found, attached and inspected: the caller passes functions for that.
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
	TUI_ENDED,   /* gone; the mapped memory is its last state */
	TUI_SAVED,   /* a file: nothing runs */
};

/* A program with zones that the user can choose.  Texts are raw bytes, NUL-terminated. */
struct tui_program {
	pid_t pid;
	enum tui_state state;
	char name[64];
	char command[256]; /* its command line, arguments separated by spaces; may be empty */
	uint32_t zones, threads;
	uint64_t ticks;	  /* ticks of the stream "frame" that have ended */
	char problem[96]; /* why it cannot be attached; empty: it can */
};

struct tui_host {
	void *data; /* the first argument of all functions */
	/*
	 * Lists the current programs, in any order; the caller frees *programs.  Called once a
	 * second while the list is shown.
	 */
	struct error *(*list)(void *data, struct tui_program **programs, size_t *count);
	/*
	 * Attaches the program and sets *region to its memory, which stays mapped until detach,
	 * even if the program ends.  One program at a time.  pid 0: what the command line named.
	 */
	struct error *(*attach)(void *data, pid_t pid, struct zone_region *region);
	void (*detach)(void *data);
	/*
	 * The state of the attached program.  detail (raw bytes): details such as "killed by
	 * SIGSEGV"; empty if unknown.  Called a few times a second.
	 */
	enum tui_state (*state)(void *data, char *detail, size_t detail_bytes);
	/*
	 * Whether the program now has another zones memory than the attached one, because it called
	 * exec.  attach (with the pid) returns the new one.  NULL: never.
	 */
	bool (*is_replaced)(void *data);
	/* The kernel's name for a thread of the attached program; empty: gone. */
	void (*thread_name)(void *data, int32_t tid, char *name, size_t name_bytes);
	/* The namer for functions of the attached program; its name is NULL if there is none. */
	struct zone_namer (*namer)(void *data);
	/* Writes the attached memory to a new file; an error if the file exists. */
	struct error *(*save)(void *data, const char *path);
};

struct tui_options {
	bool choose;	       /* start with the list of programs; else attach pid 0 */
	bool no_color;	       /* also if the environment has NO_COLOR */
	unsigned interval_ms;  /* time between two reads of the memory; 0: 100 */
	double freeze_over_ms; /* keep the frames when one takes longer; 0: never */
	/* What is shown at first; its focus and slot are ignored.  NULL: the default. */
	const struct zone_query *query;
	/* In the first program: the focus, by name, and the thread, by name or tid; NULL: any. */
	const char *zone, *thread;
};

/*
 * Shows the view on the terminal of standard input and output until the user quits, or SIGTERM,
 * SIGINT or SIGHUP arrives.  *signal is then the signal's number, else 0; the terminal is restored.
 * An early failure is returned as an error, a later one is shown.  ERROR_UNSUPPORTED without a
 * terminal, or if this build has no terminal view.
 */
must_use struct error *tui_run(
	const struct tui_host *host, const struct tui_options *options, int *signal);

#endif
