/* The folder stays open meanwhile, so that the rename is in the folder that was written to. */
#include "base/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"

#define TRIES_MAX 100

static uint32_t random_number(void)
{
	uint32_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = (uint32_t)clock_monotonic_ns();
	return number;
}

static void draft_deinit(struct draft *d)
{
	if (d->folder >= 0)
		close(d->folder);
	if (d->fd >= 0)
		close(d->fd);
	free(d->name);
	free(d->part);
	free(d->path);
	*d = (struct draft){.folder = -1, .fd = -1};
}

struct error *draft_open(struct draft *d, int folder, const char *path, mode_t mode)
{
	const char *slash = strrchr(path, '/');
	char *above = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
	struct error *err = NULL;

	*d = (struct draft){
		.fd = -1, .name = xstrdup(slash ? slash + 1 : path), .path = xstrdup(path)};
	d->folder = openat(folder, above, O_PATH | O_DIRECTORY | O_CLOEXEC);
	errno = d->folder < 0 ? errno : EEXIST;
	for (int i = 0; d->folder >= 0 && d->fd < 0 && errno == EEXIST && i < TRIES_MAX; i++) {
		free(d->part);
		d->part = xasprintf("%s-%08" PRIx32 DRAFT_ENDING, d->name, random_number());
		d->fd = openat(d->folder, d->part,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	}
	if (d->fd < 0) {
		err = error_system(errno, "cannot create %s", path);
		draft_deinit(d);
	}
	free(above);
	return err;
}

void draft_share(const struct draft *d)
{
	struct stat st;

	if (fstat(d->folder, &st) == 0 && (st.st_mode & S_ISGID))
		(void)fchmod(d->fd, 0640);
}

struct error *draft_end(struct draft *d, struct error *err)
{
	if (d->fd < 0)
		return err;
	bool is_closed = close(d->fd) == 0;

	d->fd = -1;
	if (!err && !is_closed)
		err = error_system(errno, "cannot write %s", d->path);
	if (!err && renameat(d->folder, d->part, d->folder, d->name) != 0)
		err = error_system(errno, "cannot rename %s", d->path);
	if (err)
		unlinkat(d->folder, d->part, 0);
	draft_deinit(d);
	return err;
}
