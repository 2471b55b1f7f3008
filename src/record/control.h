#ifndef SONDE_RECORD_CONTROL_H
#define SONDE_RECORD_CONTROL_H

/*
 * Control of a recording from outside: signals, read from a file descriptor instead of handlers,
 * and commands from a FIFO.
 */

#include <signal.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/* ---- signals ---- */

/*
 * The terminal sends Ctrl-C to a launched target as well.  The first one is only for the target; a
 * second one detaches from it.  If nothing was launched, it ends the recording.  SIGTERM, SIGHUP
 * and SIGQUIT detach immediately.  Signals that were ignored at the start (nohup) stay ignored.
 */

struct control {
	int fd; /* readable when a signal has come, including SIGCHLD */
	sigset_t blocked;
	bool is_alone;	   /* no command was launched that receives the first Ctrl-C */
	int interrupts;	   /* SIGINTs so far */
	int detach_signal; /* 0: continue */
	bool wants_dump;   /* a SIGUSR2 has come */
};

/* Blocks the signals and opens the descriptor.  dumps: SIGUSR2 is included, and requests a dump. */
must_use struct error *control_init(struct control *c, bool dumps);
/* Closes the descriptor; the signals stay blocked until the caller restores its mask. */
void control_deinit(struct control *c);
/* Takes all pending signals. */
void control_read(struct control *c);

/* ---- commands ---- */

/*
 * One command per line:
 *
 *	disable   leave out everything from now on
 *	enable    record again
 *	dump      write the kept part to a separate file, and continue (recorder.h)
 *	stop      end the recording; the target continues
 */

enum pipe_command {
	PIPE_NOTHING, /* no complete line yet */
	PIPE_ENABLE,
	PIPE_DISABLE,
	PIPE_DUMP,
	PIPE_STOP,
	PIPE_UNKNOWN, /* in text */
};

/* Zeroed: there is no FIFO, and no commands come. */
struct command_pipe {
	int fd;		  /* readable when something was written */
	const char *path; /* the caller's; NULL: no FIFO */
	bool is_ours;	  /* created here, so to be removed */
	struct strbuf text;
	struct strbuf unknown; /* the line of PIPE_UNKNOWN; NUL-terminated */
};

/* Opens the FIFO, and creates it if the path does not exist. */
must_use struct error *command_pipe_open(struct command_pipe *p, const char *path);
void command_pipe_close(struct command_pipe *p);
/* The next command, without waiting. */
enum pipe_command command_pipe_next(struct command_pipe *p);

#endif
