#ifndef SONDE_RECORD_CONTROL_H
#define SONDE_RECORD_CONTROL_H

/*
 * What steers a recording from outside: signals, taken from a file descriptor rather than by
 * handlers, and commands from a FIFO.
 */

#include <signal.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/* ---- signals ---- */

/*
 * Ctrl-C goes to a launched target too, from the terminal: the first is the target's alone, a
 * second one detaches from it.  Where nothing was launched it ends the recording.  SIGTERM, SIGHUP
 * and SIGQUIT detach at once.  Signals that we were started with ignored (nohup) stay ignored.
 */

struct control {
	int fd; /* readable when a signal has come, SIGCHLD too */
	sigset_t blocked;
	bool is_alone;	   /* there is no command that the first Ctrl-C is for */
	int interrupts;	   /* SIGINTs so far */
	int detach_signal; /* 0: go on */
	bool wants_dump;   /* a SIGUSR2 has come */
};

/*
 * Blocks the signals and opens the descriptor.  dumps: SIGUSR2 is one of them, and asks for a dump.
 */
must_use struct error *control_init(struct control *c, bool dumps);
/* Closes the descriptor; the signals stay blocked until the caller restores its mask. */
void control_deinit(struct control *c);
/* Takes all pending signals. */
void control_read(struct control *c);

/* ---- commands ---- */

/*
 * A command a line:
 *
 *	disable   leave out what follows
 *	enable    record again
 *	dump      write what is kept to a file of its own, and go on (recorder.h)
 *	stop      end the recording; the target goes on
 */

enum pipe_command {
	PIPE_NOTHING, /* no complete line yet */
	PIPE_ENABLE,
	PIPE_DISABLE,
	PIPE_DUMP,
	PIPE_STOP,
	PIPE_UNKNOWN, /* in text */
};

/* Zeroed: there is no FIFO, and no command comes. */
struct command_pipe {
	int fd;		  /* readable when something was written */
	const char *path; /* the caller's; NULL: none */
	bool is_ours;	  /* made here, so to be removed */
	struct strbuf text;
	struct strbuf unknown; /* what PIPE_UNKNOWN was; NUL-terminated */
};

/* Opens the FIFO, and makes it if the path does not exist. */
must_use struct error *command_pipe_open(struct command_pipe *p, const char *path);
void command_pipe_close(struct command_pipe *p);
/* The next command, without waiting. */
enum pipe_command command_pipe_next(struct command_pipe *p);

#endif
