/*
 * Commands from a FIFO.  It is opened for writing, too, so that it stays open where those who write
 * come and go.
 */
#include "record/command_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A line that is longer is none. */
#define LINE_MAX 4096

struct error *command_pipe_open(struct command_pipe *p, const char *path)
{
	struct stat stat;
	bool is_ours = mkfifo(path, 0600) == 0;

	if (!is_ours && errno != EEXIST)
		return error_system(errno, "--control %s", path);
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return error_system(errno, "--control %s", path);
	if (fstat(fd, &stat) != 0 || !S_ISFIFO(stat.st_mode)) {
		close(fd);
		return error_new(ERROR_USAGE, "--control %s: it is there and no FIFO", path);
	}
	*p = (struct command_pipe){.fd = fd, .path = path, .is_ours = is_ours};
	return NULL;
}

void command_pipe_close(struct command_pipe *p)
{
	if (!p->path)
		return;
	close(p->fd);
	if (p->is_ours)
		unlink(p->path);
	strbuf_deinit(&p->text);
	strbuf_deinit(&p->unknown);
	*p = (struct command_pipe){.fd = -1};
}

/* Takes a whole line out of the text.  False: there is none. */
static bool take_line(struct command_pipe *p, struct strbuf *line)
{
	const char *end = p->text.size ? memchr(p->text.data, '\n', p->text.size) : NULL;

	if (!end)
		return false;
	size_t size = (size_t)(end - p->text.data);

	strbuf_clear(line);
	strbuf_add(line, str_trim((struct str){p->text.data, size}));
	p->text.size -= size + 1;
	memmove(p->text.data, end + 1, p->text.size);
	return true;
}

enum pipe_command command_pipe_next(struct command_pipe *p)
{
	static const char *const names[] = {[PIPE_ENABLE] = "enable",
		[PIPE_DISABLE] = "disable",
		[PIPE_DUMP] = "dump",
		[PIPE_STOP] = "stop"};
	char bytes[256];
	ssize_t got;

	if (!p->path)
		return PIPE_NOTHING;
	while ((got = read(p->fd, bytes, sizeof(bytes))) > 0)
		if (p->text.size < LINE_MAX)
			strbuf_add(&p->text, (struct str){bytes, (size_t)got});
	if (!take_line(p, &p->unknown))
		return PIPE_NOTHING;
	for (enum pipe_command i = PIPE_ENABLE; i <= PIPE_STOP; i++)
		if (str_equal(strbuf_str(&p->unknown), str_from(names[i])))
			return i;
	return PIPE_UNKNOWN;
}
