/* Unpacks xz data with liblzma, with a bound on the size. */
#include "obj/xz_unpack.h"

#include <stdlib.h>

#include "base/alloc.h"

#ifdef HAVE_LZMA
#include <lzma.h>
#endif

/* A symbol table of a million functions is some 60 MB. */
#define UNPACKED_MAX ((size_t)256 << 20)
#define DECODER_MAX  ((uint64_t)128 << 20)

#ifdef HAVE_LZMA

uint8_t *xz_unpack(const uint8_t *data, size_t data_size, size_t *size)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t capacity = 0;
	uint8_t *bytes = NULL;
	lzma_ret ret = lzma_stream_decoder(&stream, DECODER_MAX, 0);

	stream.next_in = data;
	stream.avail_in = data_size;
	while (ret == LZMA_OK) {
		if (stream.avail_out == 0) {
			if (capacity >= UNPACKED_MAX)
				break;
			capacity = capacity ? capacity * 2 : 64 * 1024;
			bytes = xrealloc_array(bytes, capacity, 1);
			stream.next_out = bytes + stream.total_out;
			stream.avail_out = capacity - stream.total_out;
		}
		ret = lzma_code(&stream, LZMA_FINISH);
	}
	*size = stream.total_out;
	lzma_end(&stream);
	if (ret != LZMA_STREAM_END) {
		free(bytes);
		return NULL;
	}
	return bytes;
}

#else

uint8_t *xz_unpack(const uint8_t *data, size_t data_size, size_t *size)
{
	(void)data;
	(void)data_size;
	(void)size;
	return NULL;
}

#endif
