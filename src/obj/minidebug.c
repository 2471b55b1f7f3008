/* Unpacks .gnu_debugdata with liblzma, with a bound on the size. */
#include "obj/minidebug.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "obj/objfile.h"

#ifdef HAVE_LZMA
#include <lzma.h>
#endif

/* A symbol table of a million functions is some 60 MB. */
#define UNPACKED_MAX ((size_t)256 << 20)
#define DECODER_MAX  ((uint64_t)128 << 20)

struct minidebug {
	struct objfile *file;
	uint8_t *bytes;
};

#ifdef HAVE_LZMA

/* Unpacks to a new buffer; NULL if the data is bad or too large. */
static uint8_t *xz_unpack(const uint8_t *data, size_t data_size, size_t *size)
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

static uint8_t *xz_unpack(const uint8_t *data, size_t data_size, size_t *size)
{
	(void)data;
	(void)data_size;
	(void)size;
	return NULL;
}

#endif

struct minidebug *minidebug_open(struct objfile *object)
{
	struct objfile_section section;
	struct objfile *file;
	size_t size;

	if (!objfile_section(object, ".gnu_debugdata", &section) || section.bytes == NULL)
		return NULL;
	uint8_t *bytes = xz_unpack(section.bytes, section.size, &size);
	if (bytes == NULL)
		return NULL;
	struct error *err = objfile_open_memory(bytes, size, objfile_name(object), &file);
	if (err) {
		error_destroy(err);
		free(bytes);
		return NULL;
	}
	struct minidebug *m = xalloc(sizeof(*m));
	*m = (struct minidebug){.file = file, .bytes = bytes};
	return m;
}

void minidebug_close(struct minidebug *m)
{
	if (m == NULL)
		return;
	objfile_close(m->file);
	free(m->bytes);
	free(m);
}

struct objfile *minidebug_objfile(const struct minidebug *m)
{
	return m->file;
}
