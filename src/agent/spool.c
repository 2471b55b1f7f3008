/*
 * The list of segments is read once; after that only this process changes the folder, except for a
 * user who deletes files, and a file that is gone counts as removed.  Everything is done by the
 * descriptors of the folders, so that a path that changes meanwhile leads nowhere else.
 */
#include "agent/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/own_folder.h"

#define LOCK	      ".lock"
#define LEDGER	      ".ledger"
#define DIGEST_DIGITS 16
#define TIME_SIZE     16 /* of "20261127T213348Z" */

/* ---- the folder ---- */

static struct error *lock(struct spool *s)
{
	char holder[32] = "";
	struct error *err = NULL;

	s->lock_fd = openat(s->fd, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->lock_fd < 0) {
		err = error_system(errno, "cannot open %s/" LOCK, s->path);
	} else if (flock(s->lock_fd, LOCK_EX | LOCK_NB) != 0) {
		ssize_t got = read(s->lock_fd, holder, sizeof(holder) - 1);

		holder[got > 0 ? strcspn(holder, "\n") : 0] = '\0';
		err = error_new(ERROR_USAGE,
			"another agent%s%s%s writes to %s; give each agent a folder of its own",
			holder[0] ? " (process " : "", holder, holder[0] ? ")" : "", s->path);
	} else if (ftruncate(s->lock_fd, 0) == 0) {
		dprintf(s->lock_fd, "%d\n", (int)getpid());
	}
	return err;
}

DIR *spool_list(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

/* ---- segments ---- */

/* Reads the number in "20261127T213348Z-000042.prof"; *end: what follows the number. */
static bool read_number(const char *name, uint32_t *number, const char **end)
{
	int size = 0;

	if (sscanf(name, "%*8[0-9]T%*6[0-9]Z-%" SCNu32 "%n", number, &size) != 1 || size == 0)
		return false;
	*end = name + size;
	return true;
}

const char *spool_digest(const char *name)
{
	uint32_t number;
	const char *end;
	size_t digits;

	if (!read_number(name, &number, &end) || *end != '-')
		return NULL;
	digits = strspn(end + 1, "0123456789abcdef");
	return digits == DIGEST_DIGITS && strcmp(end + 1 + digits, SPOOL_ENDING) == 0 ? end : NULL;
}

static bool is_segment(const char *name, uint32_t *number)
{
	const char *end;

	return read_number(name, number, &end) &&
	       (strcmp(end, SPOOL_ENDING) == 0 || spool_digest(name));
}

/*
 * In the order of their numbers: names begin with times, which go back when the system's clock is
 * set back.
 */
static int by_number(const void *a, const void *b)
{
	const struct spool_entry *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void add(struct spool *s, const char *name, const struct stat *st)
{
	struct spool_entry entry = {xstrdup(name), (uint64_t)st->st_size, st->st_mtim.tv_sec, 0, 0};

	(void)is_segment(name, &entry.number);
	vec_push(&s->entries, entry);
	s->bytes += entry.bytes;
}

/* Lists the drafts, and removes all else that a kill has left. */
static void clean_temporary(struct spool *s)
{
	DIR *dir = spool_list(s->temporary_fd);
	const struct dirent *entry;
	uint32_t number;

	while (dir && (entry = readdir(dir)))
		if (is_segment(entry->d_name, &number)) {
			vec_push(&s->drafts, xstrdup(entry->d_name));
			if (number >= s->next)
				s->next = number + 1;
		} else if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2) {
			s->removed_temporary += unlinkat(dirfd(dir), entry->d_name, 0) == 0;
		}
	if (dir)
		closedir(dir);
}

static struct error *list(struct spool *s)
{
	DIR *dir = spool_list(s->fd);
	const struct dirent *entry;
	uint32_t number;
	struct stat st;

	if (!dir)
		return error_system(errno, "cannot read the folder %s", s->path);
	while ((entry = readdir(dir)))
		if (is_segment(entry->d_name, &number) &&
			fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISREG(st.st_mode)) {
			add(s, entry->d_name, &st);
			if (number >= s->next)
				s->next = number + 1;
		}
	closedir(dir);
	if (s->entries.count > 0)
		qsort(s->entries.data, s->entries.count, sizeof(*s->entries.data), by_number);
	return NULL;
}

/* A kill came while a segment was being dropped. */
static void settle_removal(struct spool *s)
{
	bool is_gone = true;

	if (s->ledger.state.removing == 0)
		return;
	for (size_t i = 0; i < s->entries.count; i++)
		is_gone &= s->entries.data[i].number + UINT64_C(1) != s->ledger.state.removing;
	for (size_t i = 0; i < s->drafts.count; i++)
		is_gone &=
			spool_number(s->drafts.data[i]) + UINT64_C(1) != s->ledger.state.removing;
	ledger_removed(&s->ledger, is_gone);
}

struct error *spool_open(struct spool *s, const char *path)
{
	struct error *err;

	*s = SPOOL_NONE;
	s->path = xstrdup(path);
	err = own_folder_open(path, &s->fd);
	if (!err)
		err = lock(s);
	if (!err)
		err = spool_part(s, ".tmp", -1, &s->temporary_fd);
	if (!err) {
		ledger_open(&s->ledger, s->fd, LEDGER);
		s->next = (uint32_t)s->ledger.state.next;
		clean_temporary(s);
		err = list(s);
	}
	if (!err)
		settle_removal(s);
	if (err)
		spool_close(s);
	return err;
}

struct error *spool_part(const struct spool *s, const char *name, int64_t group, int *fd)
{
	char *shown = spool_path(s, name);
	struct error *err = own_folder_open_in(s->fd, name, shown, group, fd);

	free(shown);
	return err;
}

void spool_leave_lock(struct spool *s)
{
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	s->lock_fd = -1;
	ledger_close(&s->ledger);
}

void spool_close(struct spool *s)
{
	if (!s->path)
		return;
	spool_leave_lock(s);
	for (size_t i = 0; i < s->entries.count; i++)
		free(s->entries.data[i].name);
	vec_deinit(&s->entries);
	for (size_t i = 0; i < s->drafts.count; i++)
		free(s->drafts.data[i]);
	vec_deinit(&s->drafts);
	free(s->path);
	if (s->temporary_fd >= 0)
		close(s->temporary_fd);
	if (s->fd >= 0)
		close(s->fd);
	*s = SPOOL_NONE;
}

static char *new_name(struct spool *s, uint64_t start_unix_ns, const char *digest)
{
	time_t seconds = (time_t)(start_unix_ns / SECOND_NS);
	struct tm utc;
	char text[32];

	gmtime_r(&seconds, &utc);
	strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &utc);
	/* No later agent gives the number again, though all segments may be sent by then. */
	s->ledger.state.next = (uint64_t)s->next + 1;
	ledger_save(&s->ledger);
	return xasprintf("%s-%06" PRIu32 "%s" SPOOL_ENDING, text, s->next++, digest);
}

char *spool_new_name(struct spool *s, uint64_t start_unix_ns)
{
	return new_name(s, start_unix_ns, "");
}

char *spool_received_name(struct spool *s, uint64_t start_unix_ns, struct str digest)
{
	char *with = xasprintf("-%.*s", STR_ARG(digest));
	char *name = new_name(s, start_unix_ns, with);

	free(with);
	return name;
}

bool spool_has_received(const struct spool *s, const char *name)
{
	const char *digest = spool_digest(name);

	for (size_t i = 0; i < s->entries.count && digest; i++) {
		const char *other = s->entries.data[i].name, *its = spool_digest(other);

		if (its && strcmp(its, digest) == 0 && strncmp(other, name, TIME_SIZE) == 0)
			return true;
	}
	return false;
}

char *spool_temporary_path(const struct spool *s, const char *name)
{
	return xasprintf("%s/.tmp/%s", s->path, name);
}

char *spool_path(const struct spool *s, const char *name)
{
	return xasprintf("%s/%s", s->path, name);
}

struct error *spool_take(struct spool *s, const char *name)
{
	struct error *err = NULL;
	struct stat st;

	if (renameat(s->temporary_fd, name, s->fd, name) != 0 ||
		fstatat(s->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		err = error_system(errno, "cannot rename %s/.tmp/%s", s->path, name);
	else
		add(s, name, &st);
	/* A segment that took long may come after a later one. */
	for (size_t i = s->entries.count;
		!err && i > 1 && by_number(&s->entries.data[i - 2], &s->entries.data[i - 1]) > 0;
		i--) {
		struct spool_entry entry = s->entries.data[i - 1];

		s->entries.data[i - 1] = s->entries.data[i - 2];
		s->entries.data[i - 2] = entry;
	}
	return err;
}

struct error *spool_remove(struct spool *s, size_t entry)
{
	struct spool_entry gone = s->entries.data[entry];

	if (unlinkat(s->fd, gone.name, 0) != 0 && errno != ENOENT)
		return error_system(errno, "cannot remove %s/%s", s->path, gone.name);
	s->bytes -= gone.bytes;
	free(gone.name);
	s->entries.count--;
	memmove(s->entries.data + entry, s->entries.data + entry + 1,
		(s->entries.count - entry) * sizeof(gone));
	return NULL;
}

uint32_t spool_number(const char *name)
{
	uint32_t number = 0;

	(void)is_segment(name, &number);
	return number;
}

struct error *spool_drop(struct spool *s, size_t entry)
{
	ledger_removing(&s->ledger, s->entries.data[entry].number, s->entries.data[entry].bytes);
	struct error *err = spool_remove(s, entry);

	ledger_removed(&s->ledger, err == NULL);
	return err;
}

void spool_drop_draft(struct spool *s, const char *name)
{
	char *path = spool_temporary_path(s, name);
	struct stat st;

	ledger_removing(
		&s->ledger, spool_number(name), stat(path, &st) == 0 ? (uint64_t)st.st_size : 0);
	ledger_removed(&s->ledger, unlink(path) == 0);
	free(path);
}

/* The oldest entry that may be dropped: not the newest, nor the one under way; NULL: none. */
static const struct spool_entry *droppable(const struct spool *s)
{
	size_t at = s->entries.count > 0 && s->under_way &&
		    strcmp(s->under_way, s->entries.data[0].name) == 0;

	return at + 1 < s->entries.count ? &s->entries.data[at] : NULL;
}

bool spool_drop_oldest(struct spool *s)
{
	const struct spool_entry *oldest = droppable(s);
	struct error *err = oldest ? spool_drop(s, (size_t)(oldest - s->entries.data)) : NULL;
	bool is_gone = oldest && err == NULL;

	/* It will be tried again. */
	error_destroy(err);
	return is_gone;
}

/* UINT64_MAX: not known. */
static uint64_t free_on_disk(const struct spool *s)
{
	struct statvfs st;

	if (fstatvfs(s->fd, &st) != 0)
		return UINT64_MAX;
	/* File systems keep the last blocks for root. */
	return (uint64_t)(geteuid() == 0 ? st.f_bfree : st.f_bavail) * st.f_frsize;
}

void spool_make_room(struct spool *s, uint64_t bytes)
{
	while (free_on_disk(s) < bytes && spool_drop_oldest(s))
		;
}

void spool_limit(struct spool *s, uint64_t most, int64_t oldest_s)
{
	const struct spool_entry *oldest;

	while ((oldest = droppable(s)) && (s->bytes > most || oldest->time_s < oldest_s) &&
		spool_drop_oldest(s))
		;
}
