#ifndef SONDE_SERVE_ANSWERING_H
#define SONDE_SERVE_ANSWERING_H

/*
 * Answers a request in a child process, so that a server stays responsive: the child can be ended
 * at any moment (the client went away, or cancelled), has its own memory, a limit of time, and
 * takes nobody with it if it fails.  The session was loaded before, so the child has it for
 * nothing.
 *
 * The caller has one thread; it polls fd, and calls answering_read when there is something.
 */

#include <sys/types.h>

#include "serve/request.h"

/* Seconds of CPU time that an answer may take. */
#define ANSWERING_SECONDS 120u

enum answering_state {
	ANSWERING_RUNS,
	ANSWERING_DONE,	   /* text is the answer */
	ANSWERING_REFUSED, /* text says why: the request cannot be answered */
	ANSWERING_FAILED,  /* text says why: the child ended, or the answer is too large */
};

struct answering {
	pid_t pid; /* 0: none runs */
	int fd;
	size_t most; /* bytes of the answer */
	struct strbuf text;
};

/* request: settled; most: bytes that the answer may have. */
must_use struct error *answering_start(struct answering *a, struct request *request, size_t most);
/* Reads what there is. */
enum answering_state answering_read(struct answering *a);
/* Ends the child if it runs, and frees the text. */
void answering_deinit(struct answering *a);

#endif
