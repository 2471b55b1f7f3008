#ifndef SONDE_RECORD_ENGINES_EXACT_EXACT_LOADER_H
#define SONDE_RECORD_ENGINES_EXACT_EXACT_LOADER_H

/*
 * Loads the BPF program in a separate thread: the kernel's verifier takes tens of milliseconds, and
 * no target should wait for it.
 *
 * 	loader = exact_loader_start(&options)
 * 	exact_loader_fd(loader)                 becomes readable when loading has ended
 * 	exact_loader_take(loader, &exact, &err) the result, once
 * 	exact_loader_leave(loader)              at any time; does not wait
 */

#include <stdbool.h>

#include "record/engines/exact/exact.h"

struct exact_loader;

/* NULL: no thread could be started. */
must_use struct exact_loader *exact_loader_start(const struct exact_options *options);
int exact_loader_fd(const struct exact_loader *l);
/* Whether loading has succeeded or failed. */
bool exact_loader_is_done(struct exact_loader *l);
/* False: it is still loading.  Otherwise sets either *exact or *err, which the caller then owns. */
bool exact_loader_take(struct exact_loader *l, struct exact **exact, struct error **err);
/* The thread frees a result that was not taken.  NULL is allowed. */
void exact_loader_leave(struct exact_loader *l);

#endif
