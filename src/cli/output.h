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
	char *path;	  /* the file to put in place at the end, NULL: none */
	char *temporary;  /* what it is called until then */
};

must_use struct error *output_open(struct output *output, const char *path);
/*
 * A sink whose text leaves for the output; packed as the file's name says (x.gz, x.zst), or in any
 * case so if the format is always packed: packing.
 */
void output_sink(const struct output *output, enum packing packing, struct sink *sink);
/* Closes the file and puts it in its place, with all that this frees. */
must_use struct error *output_commit(struct output *output);
/* Removes what was written of it. */
void output_abandon(struct output *output);

#endif
