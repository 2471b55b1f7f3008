#ifndef SONDE_RECORD_CONTROL_H
#define SONDE_RECORD_CONTROL_H

/*
 * The signals that steer a recording, taken from a file descriptor rather than by handlers.
 *
 * Ctrl-C goes to a launched target too, from the terminal: the first is the target's alone, a
 * second one detaches from it.  Where nothing was launched it ends the recording.  SIGTERM, SIGHUP
 * and SIGQUIT detach at once.  Signals that we were started with ignored (nohup) stay ignored.
 */

#include <signal.h>
#include <stdbool.h>

#include "base/error.h"

struct control {
	int fd; /* readable when a signal is there, SIGCHLD too */
	sigset_t blocked;
	bool is_alone;	   /* there is nobody whom the first Ctrl-C is for */
	int interrupts;	   /* SIGINTs so far */
	int detach_signal; /* 0: go on */
	bool wants_dump;   /* a SIGUSR2 has come */
};

/* Blocks the signals and opens the descriptor; dumps: SIGUSR2 is one of them, and asks for one. */
must_use struct error *control_init(struct control *c, bool dumps);
/* Closes the descriptor; the signals stay blocked until the caller restores its mask. */
void control_deinit(struct control *c);
/* Takes all signals that are there. */
void control_read(struct control *c);

#endif
