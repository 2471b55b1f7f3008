/*
 * Whole files.  Input is read, not mapped: if another process truncated a mapped file, SIGBUS would
 * kill this process, while a read just returns less; and what another process writes to it later
 * cannot change bytes that have been checked.  New memory costs as much as the copy, or more, so
 * several threads read a large file, each a piece at a time.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/jobs.h"

static const char *file_kind(mode_t mode)
{
	if (S_ISDIR(mode))
		return "is a directory";
	if (S_ISFIFO(mode))
		return "is a pipe";
	if (S_ISSOCK(mode))
		return "is a socket";
	return "is a device";
}

/*
 * The stated size of a file is trusted up to this much, so that it is read into memory that never
 * moves; unwritten memory costs nothing.  A sparse file may state more than the available memory,
 * so its size is trusted only if that much can be allocated.
 */
#define HINT_MAX  ((uint64_t)1 << 36)
#define HINT_SAFE ((uint64_t)1 << 30)

static size_t believed(uint64_t hint)
{
	if (hint > HINT_SAFE) {
		void *room = hint < HINT_MAX && hint < SIZE_MAX ? malloc((size_t)hint + 1) : NULL;
		if (room == NULL)
			hint = HINT_SAFE;
		free(room);
	}
	return (size_t)hint;
}

struct file_terms {
	uint64_t limit;	 /* 0: none */
	size_t most;	 /* only this many bytes from the start; 0: all */
	file_look *look; /* NULL: none */
	const void *context;
	size_t threads; /* that read a large file; 0: one */
};

/* Why an input of size bytes so far, `before` of them already checked, is refused; or NULL. */
static struct error *objection(const struct file_terms *terms, const char *name,
	const uint8_t *data, size_t before, size_t size)
{
	if (terms->limit && size > terms->limit)
		return error_new(ERROR_INPUT, "%s: larger than %llu bytes", name,
			(unsigned long long)terms->limit);
	if (terms->look && before < FILE_LOOK_BYTES && size >= FILE_LOOK_BYTES)
		return terms->look(terms->context, data, size);
	return NULL;
}

/* What threads read at a time, and the least for which there are several. */
#define PIECE_BYTES ((size_t)4 << 20)
#define PIECES_MIN  4u

struct pieces {
	int fd;
	uint8_t *data;
	size_t begin, end; /* of what is to be read, in the file and in data */
	size_t *got;	   /* [piece] bytes read */
};

static void read_piece(void *context, size_t piece)
{
	struct pieces *p = context;
	size_t at = p->begin + piece * PIECE_BYTES;
	size_t size = p->end - at < PIECE_BYTES ? p->end - at : PIECE_BYTES, done = 0;

	while (done < size) {
		ssize_t got = pread(p->fd, p->data + at + done, size - done, (off_t)(at + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	p->got[piece] = done;
}

/*
 * Reads bytes [begin, end) of a large regular file with several threads; returns where the bytes
 * that were read end.  The file's position is there: who reads on will see why it is not at `end`.
 */
static size_t read_pieces(int fd, size_t threads, uint8_t *data, size_t begin, size_t end)
{
	size_t count = (end - begin + PIECE_BYTES - 1) / PIECE_BYTES, at = begin;
	struct pieces p = {.fd = fd, .data = data, .begin = begin, .end = end};

	if (threads < 2 || count < PIECES_MIN || lseek(fd, 0, SEEK_CUR) != (off_t)begin)
		return begin;
	p.got = xcalloc(count, sizeof(*p.got));
	jobs_run(threads, count, read_piece, &p);
	for (size_t i = 0; i < count; i++) {
		at += p.got[i];
		if (p.got[i] < PIECE_BYTES)
			break;
	}
	free(p.got);
	return lseek(fd, (off_t)at, SEEK_SET) == (off_t)at ? at : begin;
}

static struct error *read_fd(int fd, const char *name, const struct file_terms *terms,
	uint64_t hint, struct file_bytes *bytes)
{
	if (terms->most && hint > terms->most)
		hint = terms->most;
	size_t capacity = believed(hint) + 1, size = 0;
	uint8_t *data = xrealloc_array(NULL, capacity, 1);
	size_t alone = terms->look ? FILE_LOOK_BYTES : 0; /* before several threads read */
	bool by_pieces = terms->threads > 1;

	for (;;) {
		if (by_pieces && size >= alone) {
			size = read_pieces(fd, terms->threads, data, size, capacity - 1);
			by_pieces = false;
		}
		if (size == capacity) {
			capacity += capacity / 2 + 65536;
			data = xrealloc_array(data, capacity, 1);
		}
		size_t room = capacity - size;
		/* At most the bytes to look at first. */
		if (terms->look && size < FILE_LOOK_BYTES && room > FILE_LOOK_BYTES - size)
			room = FILE_LOOK_BYTES - size;
		ssize_t got = read(fd, data + size, room);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int code = errno;
			free(data);
			return error_system(code, "cannot read %s", name);
		}
		if (got == 0)
			break;
		size += (size_t)got;
		if (terms->most && size >= terms->most) {
			size = terms->most;
			break;
		}
		struct error *err = objection(terms, name, data, size - (size_t)got, size);
		if (err) {
			free(data);
			return err;
		}
	}
	*bytes = (struct file_bytes){.data = data, .size = size};
	return NULL;
}

static struct error *read_open(
	int fd, const char *path, const struct file_terms *terms, struct file_bytes *bytes)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_system(errno, "cannot read %s", path);
	if (!S_ISREG(st.st_mode))
		return error_new(ERROR_INPUT, "%s: %s, not a file", path, file_kind(st.st_mode));
	if (terms->limit && (uint64_t)st.st_size > terms->limit)
		return objection(terms, path, NULL, 0, (size_t)st.st_size);
	return read_fd(fd, path, terms, (uint64_t)st.st_size, bytes);
}

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

static struct error *read_path(
	const char *path, const struct file_terms *terms, struct file_bytes *bytes)
{
	if (strcmp(path, "-") == 0)
		return read_fd(STDIN_FILENO, "standard input", terms, 65536, bytes);
	int fd = open(path, OPEN_FLAGS);
	if (fd < 0)
		return error_system(errno, "cannot open %s", path);
	struct error *err = read_open(fd, path, terms, bytes);
	close(fd);
	return err;
}

static struct error *read_in(int folder, const char *name, const char *shown,
	const struct file_terms *terms, struct file_bytes *bytes)
{
	int fd = openat(folder, name, OPEN_FLAGS | O_NOFOLLOW);

	if (fd < 0 && errno == ELOOP)
		return error_new(ERROR_INPUT, "%s: is a link, not a file", shown);
	if (fd < 0)
		return error_system(errno, "cannot open %s", shown);
	struct error *err = read_open(fd, shown, terms, bytes);
	close(fd);
	return err;
}

struct error *file_read_in(
	int folder, const char *name, const char *shown, uint64_t limit, struct file_bytes *bytes)
{
	return read_in(folder, name, shown, &(struct file_terms){.limit = limit}, bytes);
}

struct error *file_read_start_in(
	int folder, const char *name, const char *shown, size_t most, struct file_bytes *bytes)
{
	return read_in(folder, name, shown, &(struct file_terms){.most = most}, bytes);
}

struct error *file_read(const char *path, uint64_t limit, struct file_bytes *bytes)
{
	return read_path(path, &(struct file_terms){.limit = limit}, bytes);
}

struct error *file_read_looking(const char *path, file_look *look, const void *context,
	size_t threads, struct file_bytes *bytes)
{
	return read_path(path,
		&(struct file_terms){.look = look, .context = context, .threads = threads}, bytes);
}

void file_bytes_deinit(struct file_bytes *bytes)
{
	free((void *)(uintptr_t)bytes->data);
	*bytes = (struct file_bytes){0};
}

struct error *file_write_all(int fd, const void *data, size_t size, const char *name)
{
	const char *p = data;

	while (size) {
		ssize_t put = write(fd, p, size);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return error_system(errno, "cannot write %s", name);
		p += put;
		size -= (size_t)put;
	}
	return NULL;
}
