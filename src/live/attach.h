#ifndef SONDE_LIVE_ATTACH_H
#define SONDE_LIVE_ATTACH_H

/*
 * A program with zones, seen from outside: a running one, or its memory in a file.
 *
 * Attaching needs the same permissions as reading /proc/PID/fd: the same user, and a "dumpable"
 * program; or root.  The program is not stopped and cannot be disturbed: its memory is opened
 * read-only.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "live/memory.h"
#include "live/proc.h"
#include "zonereport/namer.h"

enum live_state {
	LIVE_RUNNING,
	LIVE_STOPPED, /* by a signal or a debugger */
	LIVE_ENDED,   /* or runs another program; the memory has the last state */
	LIVE_SAVED,   /* a file: not running */
};

struct live {
	struct live_process process; /* zeros for files */
	char *path;		     /* for files; else NULL */
	struct live_memory memory;
	int pidfd;		/* -1: the kernel has none, or it is a file */
	int fd;			/* the descriptor from which the memory is read; -1: none */
	int place_fd;		/* its number in the process; -1: none */
	uint64_t device, inode; /* of the memory; of files 0 */
	enum live_state state;	/* at the last look */
	uint64_t alive_ticks;	/* when it was last seen alive */
	char detail[64];	/* how it ended */
};

/*
 * Attaches to the process.  ERROR_INPUT: there is no such process, or it has no zones;
 * ERROR_UNSUPPORTED: it may not be inspected.  The message is complete, and includes a remedy.
 */
must_use struct error *live_attach(pid_t pid, struct live **live);
/*
 * Opens zones memory in a file: saved, a program's own (SONDE_ZONES=file=), or in a core dump.  The
 * whole file is read.  Memory that was not saved has no end time: its clock stops at the last tick
 * that the memory proves.
 */
must_use struct error *live_open_file(const char *path, struct live **live);
void live_destroy(struct live *live);

/*
 * The current state.  If the program has ended since the last call, its memory is frozen.  A copy
 * is updated.
 */
enum live_state live_look(struct live *live);
/* Whether the process has different zones memory now: it has called exec, and entered a zone. */
bool live_is_replaced(const struct live *live);

/*
 * Makes a copy of the current memory, which does not change: the input of
 * formats/sonde/zones_reader.c.  Adds the names of zones that are functions, which cannot be
 * resolved by address later.  The caller owns the copy, and frees it with live_memory_deinit.
 */
must_use struct error *live_copy(
	const struct live *live, struct zone_namer namer, struct live_memory *copy);
/*
 * Writes such a copy to an empty regular file, sparse; name is for messages. live_open_file can
 * open it.
 */
must_use struct error *live_save(
	const struct live *live, struct zone_namer namer, int fd, const char *name);

#endif
