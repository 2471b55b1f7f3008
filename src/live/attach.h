#ifndef SONDE_LIVE_ATTACH_H
#define SONDE_LIVE_ATTACH_H

/*
 * A program with zones, seen from outside: one that runs, or what is left of one in a file.
 *
 * To attach needs what reading /proc/PID/fd needs: the same user, and a program that allows it (it
 * is "dumpable"); or root.  The program is not stopped, takes no notice, and cannot be disturbed:
 * its memory is open for reading only.
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
	LIVE_ENDED,   /* or runs another program; the memory is the last there was */
	LIVE_SAVED,   /* a file: nothing runs */
};

struct live {
	struct live_process process; /* of files: zeros */
	char *path;		     /* of files; else NULL */
	struct live_memory memory;
	int pidfd;		/* -1: the kernel has none, or it is a file */
	int fd;			/* that the memory is read from; -1: none */
	int place_fd;		/* its number in the process; -1: none */
	uint64_t device, inode; /* of the memory; of files 0 */
	enum live_state state;	/* as it was last seen */
	uint64_t alive_ticks;	/* when it was last seen alive */
	char detail[64];	/* of an end */
};

/*
 * Attaches the process.  ERROR_INPUT: there is none, or it has no zones; ERROR_UNSUPPORTED: it may
 * not be looked at.  The message is a whole one, and says what would help.
 */
must_use struct error *live_attach(pid_t pid, struct live **live);
/*
 * Memory of zones out of a file: saved, a program's own (SONDE_ZONES=file=), or in a core dump.  It
 * is read whole.  What was not saved has no end of its own: its clock is taken to stand at the last
 * tick that can be told from it.
 */
must_use struct error *live_open_file(const char *path, struct live **live);
void live_destroy(struct live *live);

/*
 * How it is now.  Of what has ended since the last call the memory is made to stand still.  A copy
 * is brought up to date.
 */
enum live_state live_look(struct live *live);
/* Whether the process has other memory of zones now: it has called exec, and entered a zone. */
bool live_is_replaced(const struct live *live);

/*
 * A copy of the memory as it is now, which stands still: what formats/sonde/zones_reader.c reads.
 * Names of zones that are functions, which will not be found any more by their addresses, are
 * written into it.  The copy is the caller's, to be freed with live_memory_deinit.
 */
must_use struct error *live_copy(
	const struct live *live, struct zone_namer namer, struct live_memory *copy);
/*
 * Writes such a copy to an empty regular file, sparse; name is for messages.  It can be opened by
 * live_open_file.
 */
must_use struct error *live_save(
	const struct live *live, struct zone_namer namer, int fd, const char *name);

#endif
