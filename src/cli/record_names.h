#ifndef SONDE_CLI_RECORD_NAMES_H
#define SONDE_CLI_RECORD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "record/recorder.h"

struct record_names_options {
	bool later;	 /* only what cannot be found later, of the kernel and of generated code */
	bool tail_calls; /* restore callers that left no frame */
	/* Objects whose tables take more are left out (symbolize_options); 0: none is. */
	uint64_t memory_max;
	/*
	 * Called for each object without a symbol table, or whose file is another build by now;
	 * NULL: for none.
	 */
	void (*nameless)(void *context, struct str path, bool is_replaced);
	void *context;
};

/*
 * Resolves the sampled addresses of a recording that has ended, and writes their names to its file.
 * Returns how many objects were left out because of memory_max.
 */
size_t record_names(struct recorder *recorder, const struct record_names_options *options);

#endif
