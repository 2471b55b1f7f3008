#ifndef SONDE_RECORD_COMMAND_PIPE_H
#define SONDE_RECORD_COMMAND_PIPE_H

/*
 * A FIFO by which others steer a recording: a command a line.
 *
 *	disable   leave out what follows
 *	enable    record again
 *	dump      write what is kept to a file of its own, and go on (record/flight.h)
 *	stop      end the recording; what is recorded goes on
 */

#include "base/error.h"
#include "base/str.h"

enum pipe_command {
	PIPE_NOTHING, /* no whole line is there */
	PIPE_ENABLE,
	PIPE_DISABLE,
	PIPE_DUMP,
	PIPE_STOP,
	PIPE_UNKNOWN, /* in text */
};

/* Zeroed: there is none, and nothing comes. */
struct command_pipe {
	int fd;		  /* readable when there is something */
	const char *path; /* the caller's; NULL: none */
	bool is_ours;	  /* made here, to be removed */
	struct strbuf text;
	struct strbuf unknown; /* what PIPE_UNKNOWN was; NUL-terminated */
};

/* Opens the FIFO, which is made if nothing is there. */
must_use struct error *command_pipe_open(struct command_pipe *p, const char *path);
void command_pipe_close(struct command_pipe *p);
/* The next command, without waiting. */
enum pipe_command command_pipe_next(struct command_pipe *p);

#endif
