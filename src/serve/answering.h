#ifndef SONDE_SERVE_ANSWERING_H
#define SONDE_SERVE_ANSWERING_H

/*
 * Answers a request in a child process, so that a server stays responsive: the child can be ended
 * at any moment (the client went away, or cancelled), has its own memory, limits of time and
 * memory, and takes nobody with it if it fails.  The session was loaded before, so the child has it
 * for nothing.
 *
 * The caller has one thread; it polls child.fd, and calls answering_read when there is something.
 */

#include "base/limited_child.h"
#include "serve/request.h"

/* What an answer may take: seconds of CPU time, and bytes besides what the server has loaded. */
#define ANSWERING_SECONDS 120u
#define ANSWERING_BYTES	  (UINT64_C(1) << 30)

enum answering_state {
	ANSWERING_RUNS,
	ANSWERING_DONE,	   /* text is the answer */
	ANSWERING_REFUSED, /* text says why: the request cannot be answered */
	ANSWERING_FAILED,  /* text says why: the child ended, or the answer is too large */
};

struct answering {
	struct limited_child child;
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
