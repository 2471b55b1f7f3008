/*
 * Uncompressed sections as separate files, "BUILD-ID-INDEX-SIZE.section", which hold just the
 * bytes.  Files are written completely or not at all, so the size shows whether a file is valid.
 */
#include "symbolize/section_store.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cache_directory.h"

/* Larger ones would displace everything else. */
#define SECTION_SIZE_MAX ((uint64_t)64 << 20)
#define TOTAL_SIZE_MAX	 ((uint64_t)256 << 20)

static uint8_t *load(void *context, const char *key, size_t size)
{
	struct file_bytes bytes = {0};
	const char *directory = context;

	if (directory == NULL || size > SECTION_SIZE_MAX)
		return NULL;
	char *name = xasprintf("%s.section", key);

	if (cache_directory_read(directory, name, SECTION_SIZE_MAX, &bytes) && bytes.size != size) {
		file_bytes_deinit(&bytes);
		bytes.data = NULL;
	}
	free(name);
	return (uint8_t *)(uintptr_t)bytes.data;
}

static void keep(void *context, const char *key, const uint8_t *bytes, size_t size)
{
	const char *directory = context;

	if (directory == NULL || size > SECTION_SIZE_MAX)
		return;
	char *name = xasprintf("%s.section", key);

	cache_directory_write(
		directory, name, (struct str){(const char *)bytes, size}, TOTAL_SIZE_MAX);
	free(name);
}

void section_store_init(struct objfile_store *store, const char *cache_directory)
{
	*store = (struct objfile_store){load, keep, (void *)(uintptr_t)cache_directory};
}
