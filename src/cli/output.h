#ifndef SONDE_CLI_OUTPUT_H
#define SONDE_CLI_OUTPUT_H

/*
 * A command's output: standard output, or a file that appears complete or not at all.
 *
 *	output_open(&output, path)     path NULL or "-": standard output
 *	… write to output.fd, or to a sink that output_sink has made …
 *	output_commit(&output)  or  output_abandon(&output)
 */

#include <stdbool.h>

#include "base/error.h"
#include "base/sink.h"

struct output {
	int fd;
	const char *name; /* for messages */
	char *path;	  /* final path of the file; NULL: none */
	char *temporary;  /* its path until then */
};

must_use struct error *output_open(struct output *output, const char *path);
/*
 * Makes a sink for the output; compressed according to the file's name (x.gz, x.zst), or always if
 * `packing` says so.
 */
void output_sink(const struct output *output, enum packing packing, struct sink *sink);
/* Closes the file and moves it to its final path.  Frees everything. */
must_use struct error *output_commit(struct output *output);
/* Removes the temporary file. */
void output_abandon(struct output *output);

#endif
