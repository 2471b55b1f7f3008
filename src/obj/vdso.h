#ifndef SONDE_OBJ_VDSO_H
#define SONDE_OBJ_VDSO_H

/*
 * The vdso: code that the kernel maps into every process.  It is not a file on disk; sonde's own is
 * the same as that of any other process of this kernel.
 */

#include <stdbool.h>

#include "base/str.h"

/* The bytes of our own vdso, which remain valid; false if there is none. */
bool vdso_bytes(struct str *bytes);

#endif
