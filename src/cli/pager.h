#ifndef SONDE_CLI_PAGER_H
#define SONDE_CLI_PAGER_H

/* A pager between sonde and its terminal: $PAGER, else less. */

#include <stdbool.h>
#include <sys/types.h>

struct pager {
	pid_t pid; /* 0: none is running */
	int fd;	   /* write here */
};

/*
 * Starts a pager on standard output.  False: there is none, or it is disabled (PAGER is empty or
 * "cat"); then write to standard output.
 */
bool pager_start(struct pager *pager);
/* Signals the end of the text to the pager, and waits until its user exits. */
void pager_finish(struct pager *pager);

#endif
