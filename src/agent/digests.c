/*
 * The file is a list of entries of 12 bytes, oldest first: digest and time, little-endian.  Each is
 * appended as it comes.  The file is written anew, without what is forgotten, when it has twice as
 * many entries as there may be, or is damaged.
 */
#include "agent/digests.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/file.h"
#include "base/wire.h"

#define ENTRY_BYTES ((size_t)12)

static void put_entry(struct strbuf *b, const struct digests_entry *e)
{
	wire_put_u64(b, e->digest);
	wire_put_u32(b, e->time_s);
}

static void add_entry(struct digests *d, uint64_t digest, uint32_t time_s)
{
	bool added;

	(void)map_at(&d->time_of, digest, 0, time_s, &added);
	if (added)
		vec_push(&d->entries, (struct digests_entry){digest, time_s});
}

/* Whether the file can be added to: it has whole entries, and not too many. */
static bool read_entries(struct digests *d)
{
	struct file_bytes bytes;
	struct cursor c;
	struct error *err = file_read(d->path, 2 * DIGESTS_MAX * ENTRY_BYTES, &bytes);

	if (err) {
		error_destroy(err);
		return false;
	}
	bool is_whole = bytes.size % ENTRY_BYTES == 0;
	cursor_init(&c, bytes.data, bytes.size, d->path, 0);
	while (cursor_left(&c) >= ENTRY_BYTES) {
		uint64_t digest = cursor_u64(&c);

		add_entry(d, digest, cursor_u32(&c));
	}
	d->in_file = bytes.size / ENTRY_BYTES;
	file_bytes_deinit(&bytes);
	return is_whole;
}

/* Writes the file anew and keeps it open. */
static void write_entries(struct digests *d)
{
	char *draft = xasprintf("%s.new", d->path);
	struct strbuf b = {0};

	for (size_t i = d->first; i < d->entries.count; i++)
		put_entry(&b, &d->entries.data[i]);
	if (d->fd >= 0)
		close(d->fd);
	/* A link of somebody else is removed, not followed. */
	unlink(draft);
	d->fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (d->fd >= 0) {
		struct error *err = file_write_all(d->fd, b.data, b.size, draft);

		if (err || rename(draft, d->path) != 0)
			unlink(draft);
		error_destroy(err);
	}
	d->in_file = d->entries.count - d->first;
	strbuf_deinit(&b);
	free(draft);
}

/* Forgets what is too old, and the oldest of too many. */
static void forget(struct digests *d, uint32_t now_s)
{
	while (d->first < d->entries.count) {
		const struct digests_entry *oldest = &d->entries.data[d->first];

		if (d->entries.count - d->first <= DIGESTS_MAX &&
			(d->keep_s == 0 || oldest->time_s + d->keep_s >= now_s))
			break;
		map_remove(&d->time_of, oldest->digest, 0);
		d->first++;
	}
	if (d->first < DIGESTS_MAX)
		return;
	for (size_t i = d->first; i < d->entries.count; i++)
		d->entries.data[i - d->first] = d->entries.data[i];
	d->entries.count -= d->first;
	d->first = 0;
}

void digests_open(struct digests *d, const char *path, uint64_t keep_s)
{
	*d = (struct digests){.path = xstrdup(path), .fd = -1, .keep_s = keep_s};
	if (read_entries(d))
		d->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	if (d->fd < 0)
		write_entries(d);
}

void digests_close(struct digests *d)
{
	if (d->fd >= 0)
		close(d->fd);
	map_deinit(&d->time_of);
	vec_deinit(&d->entries);
	free(d->path);
	*d = (struct digests){.fd = -1};
}

uint32_t digests_time(struct digests *d, uint64_t digest, uint32_t now_s)
{
	struct strbuf b = {0};
	uint32_t time_s;

	forget(d, now_s);
	if (map_get(&d->time_of, digest, 0, &time_s))
		return time_s;
	add_entry(d, digest, now_s);
	forget(d, now_s);
	if (d->in_file >= 2 * DIGESTS_MAX - 1) {
		write_entries(d);
		return now_s;
	}
	put_entry(&b, &d->entries.data[d->entries.count - 1]);
	/* Without the file, a profile that comes again counts once while this process lives. */
	if (d->fd >= 0)
		error_destroy(file_write_all(d->fd, b.data, b.size, d->path));
	d->in_file++;
	strbuf_deinit(&b);
	return now_s;
}
