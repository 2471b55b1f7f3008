#ifndef SONDE_CLI_PAGER_H
#define SONDE_CLI_PAGER_H

/* A pager between sonde and its terminal: $PAGER, else less. */

#include <stdbool.h>
#include <sys/types.h>

struct pager {
	pid_t pid; /* 0: none is running */
	int fd;	   /* to write to */
};

/* Starts a pager on standard output. False: there is none, or it is not wanted (PAGER is empty or
 * "cat"); write to standard output then. */
bool pager_start(struct pager *pager);
/* Lets the pager see the end of the text and waits until its user has seen enough. */
void pager_finish(struct pager *pager);

#endif
