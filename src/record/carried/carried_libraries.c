/*
 * Libraries in a static program, as bytes (base/embed.py).  A library to preload must be a file, so
 * they are written to the cache, or else below /tmp, in a folder that is named after their
 * contents: other versions of sonde have other folders.  A file that is there is compared before it
 * is used.
 */
#include "record/carried/carried_libraries.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cache_directory.h"
#include "base/compiler.h"
#include "base/hash.h"

extern const char carried_preload[], carried_functions[], carried_zones[];
extern const size_t carried_preload_size, carried_functions_size, carried_zones_size;

const char library_missing[] = "can't be written to the cache or to /tmp";

struct library {
	const char *folder, *name;
	const char *data;
	const size_t *size;
};

/* Where a build has them: each finds the others by that. */
static const struct library libraries[] = {
	{"src/preload", "libsonde-preload.so", carried_preload, &carried_preload_size},
	{"src/zonehook", "libsonde-zones-functions.so", carried_functions, &carried_functions_size},
	{".", "libsonde-zones.so.1", carried_zones, &carried_zones_size},
};

static struct str contents(const struct library *l)
{
	return (struct str){l->data, *l->size};
}

static bool is_there(const struct library *l, const char *folder)
{
	struct file_bytes bytes;

	if (!cache_directory_read(folder, l->name, *l->size, &bytes))
		return false;
	bool same = bytes.size == *l->size && memcmp(bytes.data, l->data, bytes.size) == 0;
	file_bytes_deinit(&bytes);
	return same;
}

/* False: it is not there, and can't be written. */
static bool provide(const struct library *l, const char *base)
{
	char *folder = xasprintf("%s/%s", base, l->folder);
	bool good = is_there(l, folder);

	if (!good) {
		cache_directory_write(folder, l->name, contents(l), UINT64_MAX);
		good = is_there(l, folder);
	}
	free(folder);
	return good;
}

/* Frees base, which may be NULL, unless it is returned: then all libraries are there. */
static char *provide_all(char *base)
{
	for (size_t i = 0; base && i < ARRAY_SIZE(libraries); i++)
		if (!provide(&libraries[i], base)) {
			free(base);
			base = NULL;
		}
	return base;
}

/* Whether it is, or becomes, a folder in which only this user writes; not a link to one. */
static bool is_ours_alone(const char *path)
{
	struct stat st;

	(void)mkdir(path, 0700);
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

char *carried_libraries(void)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++)
		hash = hash_u64(hash ^ hash_bytes(libraries[i].data, *libraries[i].size));
	char *name = xasprintf("lib/%016llx", (unsigned long long)hash);
	char *base = provide_all(cache_directory_path(name));

	/* Without a home. */
	if (base == NULL) {
		char *own = xasprintf("/tmp/sonde-%u", geteuid());

		base = is_ours_alone(own) ? provide_all(xasprintf("%s/%s", own, name)) : NULL;
		free(own);
	}
	free(name);
	return base;
}
