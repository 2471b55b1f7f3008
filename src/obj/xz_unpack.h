#ifndef SONDE_OBJ_XZ_UNPACK_H
#define SONDE_OBJ_XZ_UNPACK_H

#include <stddef.h>
#include <stdint.h>

/*
 * Unpacks xz data to a new buffer, which the caller frees.  NULL if the data is damaged or cut off,
 * unpacks to more than 256 MB, or if this build has no liblzma.
 */
uint8_t *xz_unpack(const uint8_t *data, size_t data_size, size_t *size);

#endif
