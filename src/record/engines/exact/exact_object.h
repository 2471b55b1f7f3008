#ifndef SONDE_RECORD_ENGINES_EXACT_EXACT_OBJECT_H
#define SONDE_RECORD_ENGINES_EXACT_EXACT_OBJECT_H

/*
 * The BPF program of the exact engine as the compiler left it, an ELF file; made by the build.
 */

#include <stddef.h>

extern const unsigned char exact_object[];
extern const size_t exact_object_bytes;

#endif
