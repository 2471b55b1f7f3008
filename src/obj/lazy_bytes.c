/*
 * Bytes on demand.  The memory is a private anonymous mapping, which has pages only where it was
 * written; the file itself is not mapped, so that truncating it cannot raise SIGBUS.
 *
 * Only these pages are writable: a limit of a process's data (RLIMIT_DATA) counts what is writable,
 * not what has pages, and a section can be a hundred times as large as what is needed of it.
 */
#include "obj/lazy_bytes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"

#define PAGE_BYTES ((size_t)4096)

struct lazy_bytes {
	lazy_bytes_read *read;
	void *context;
	uint64_t file_off;
	uint8_t *bytes;
	size_t size;
	uint64_t *is_there; /* a bit for each page */
	size_t pages_there;
};

static size_t page_count(const struct lazy_bytes *lazy)
{
	return (lazy->size + PAGE_BYTES - 1) / PAGE_BYTES;
}

static size_t bitmap_words(const struct lazy_bytes *lazy)
{
	return page_count(lazy) / 64 + 1;
}

struct lazy_bytes *lazy_bytes_create(
	lazy_bytes_read *read, void *context, uint64_t file_off, size_t size)
{
	void *bytes = mmap(NULL, size ? size : 1, PROT_READ,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (bytes == MAP_FAILED)
		return NULL;
	struct lazy_bytes *lazy = xalloc(sizeof(*lazy));
	*lazy = (struct lazy_bytes){.read = read,
		.context = context,
		.file_off = file_off,
		.bytes = bytes,
		.size = size};
	lazy->is_there = xcalloc(bitmap_words(lazy), sizeof(*lazy->is_there));
	return lazy;
}

struct lazy_bytes *lazy_bytes_copy(const void *bytes, size_t size)
{
	struct lazy_bytes *lazy = lazy_bytes_create(NULL, NULL, 0, size);

	if (lazy == NULL || size == 0)
		return lazy;
	if (mprotect(lazy->bytes, size, PROT_READ | PROT_WRITE) != 0) {
		lazy_bytes_destroy(lazy);
		return NULL;
	}
	memcpy(lazy->bytes, bytes, size);
	return lazy;
}

void lazy_bytes_destroy(struct lazy_bytes *lazy)
{
	if (lazy == NULL)
		return;
	munmap(lazy->bytes, lazy->size ? lazy->size : 1);
	free(lazy->is_there);
	free(lazy);
}

const uint8_t *lazy_bytes_data(const struct lazy_bytes *lazy)
{
	return lazy->bytes;
}

static bool is_there(const struct lazy_bytes *lazy, size_t page)
{
	return lazy->is_there[page / 64] >> (page % 64) & 1;
}

/*
 * Each part that is writable may be a mapping of its own, and their number is limited; then all
 * becomes one.
 */
static bool make_writable(struct lazy_bytes *lazy, size_t from, size_t to)
{
	return mprotect(lazy->bytes + from, to - from, PROT_READ | PROT_WRITE) == 0 ||
	       mprotect(lazy->bytes, lazy->size, PROT_READ | PROT_WRITE) == 0;
}

/* Reads pages [first, end), none of which has been read yet. */
static bool read_pages(struct lazy_bytes *lazy, size_t first, size_t end)
{
	size_t from = first * PAGE_BYTES, to = end * PAGE_BYTES;

	to = to < lazy->size ? to : lazy->size;
	if (!make_writable(lazy, from, to))
		return false;
	if (!lazy->read(lazy->context, lazy->file_off + from, lazy->bytes + from, to - from))
		return false;
	for (size_t page = first; page < end; page++)
		lazy->is_there[page / 64] |= (uint64_t)1 << (page % 64);
	lazy->pages_there += end - first;
	return true;
}

static void drop_all(struct lazy_bytes *lazy)
{
	if (madvise(lazy->bytes, lazy->size, MADV_DONTNEED) != 0)
		return;
	(void)mprotect(lazy->bytes, lazy->size, PROT_READ);
	memset(lazy->is_there, 0, bitmap_words(lazy) * sizeof(*lazy->is_there));
	lazy->pages_there = 0;
}

bool lazy_bytes_need(struct lazy_bytes *lazy, uint64_t offset, uint64_t size)
{
	if (lazy->read == NULL || offset >= lazy->size || size == 0)
		return true;
	size_t left = lazy->size - offset;
	size_t first = offset / PAGE_BYTES;
	size_t end = (offset + (size < left ? size : left) - 1) / PAGE_BYTES + 1;

	for (size_t page = first; page < end; page++) {
		size_t until = page;
		while (until < end && !is_there(lazy, until))
			until++;
		if (until > page && !read_pages(lazy, page, until))
			return false;
		page = until;
	}
	return true;
}

void lazy_bytes_tidy(struct lazy_bytes *lazy)
{
	if (lazy->pages_there * PAGE_BYTES > LAZY_BYTES_MAX)
		drop_all(lazy);
}

size_t lazy_bytes_size_bytes(const struct lazy_bytes *lazy)
{
	return sizeof(*lazy) + bitmap_words(lazy) * sizeof(*lazy->is_there) +
	       (lazy->read ? lazy->pages_there * PAGE_BYTES : lazy->size);
}
