#ifndef SONDE_RECORD_ENGINES_EXACT_EXACT_LOADER_H
#define SONDE_RECORD_ENGINES_EXACT_EXACT_LOADER_H

/*
 * Loads the BPF program on a thread of its own: the kernel's verifier takes tens of milliseconds,
 * for which no target shall wait.
 *
 *	loader = exact_loader_start(&options)
 *	exact_loader_fd(loader)                 becomes readable when loading has ended
 *	exact_loader_take(loader, &exact, &err) what came of it, once
 *	exact_loader_leave(loader)              at any time; it does not wait
 */

#include <stdbool.h>

#include "record/engines/exact/exact.h"

struct exact_loader;

/* NULL: there can be no thread. */
must_use struct exact_loader *exact_loader_start(const struct exact_options *options);
int exact_loader_fd(const struct exact_loader *l);
/* Whether it has loaded, or failed. */
bool exact_loader_is_done(struct exact_loader *l);
/* False: it still loads.  Then either *exact or *err is set, and the caller's. */
bool exact_loader_take(struct exact_loader *l, struct exact **exact, struct error **err);
/* The thread frees what nobody took.  NULL is fine. */
void exact_loader_leave(struct exact_loader *l);

#endif
