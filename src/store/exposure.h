#ifndef SONDE_STORE_EXPOSURE_H
#define SONDE_STORE_EXPOSURE_H

/* Passwords and tokens that would travel unencrypted to another machine. */

#include <stdbool.h>

#include "base/str.h"

/* Whether "HOST" or "HOST:PORT" (IPv6 in brackets) is another machine, by the name alone. */
bool exposure_is_elsewhere(struct str place);
/* The note on a secret ("the password") on its way to a place, and how to avoid it.  Free it. */
char *exposure_note(const char *secret, struct str place, const char *remedy);

#endif
