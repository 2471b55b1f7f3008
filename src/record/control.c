/*
 * Signals come by signalfd(2), commands by a FIFO.  The FIFO is also opened for writing, so that it
 * stays open while writers come and go.
 */
#include "record/control.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- signals ---- */

static bool is_ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

struct error *control_init(struct control *c, bool dumps)
{
	static const int steering[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

	*c = (struct control){.fd = -1};
	sigemptyset(&c->blocked);
	sigaddset(&c->blocked, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(steering); i++)
		if (!is_ignored(steering[i]))
			sigaddset(&c->blocked, steering[i]);
	if (dumps)
		sigaddset(&c->blocked, SIGUSR2);
	c->fd = signalfd(-1, &c->blocked, SFD_CLOEXEC | SFD_NONBLOCK);
	if (c->fd < 0)
		return error_system(errno, "signalfd");
	sigprocmask(SIG_BLOCK, &c->blocked, NULL);
	return NULL;
}

void control_deinit(struct control *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

void control_read(struct control *c)
{
	struct signalfd_siginfo info;

	while (read(c->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		int number = (int)info.ssi_signo;

		c->wants_dump |= number == SIGUSR2;
		if (number == SIGCHLD || number == SIGUSR2)
			continue;
		if (number == SIGINT && ++c->interrupts < 2 && !c->is_alone)
			continue;
		if (c->detach_signal == 0)
			c->detach_signal = number;
	}
}

/* ---- commands ---- */

/* A longer line is dropped. */
#define LINE_MAX 4096

struct error *command_pipe_open(struct command_pipe *p, const char *path)
{
	struct stat stat;
	bool is_ours;

	/* As perf record --control takes them. */
	if (strncmp(path, "fifo:", 5) == 0)
		return error_new(ERROR_USAGE, "--control %s: name the FIFO alone: --control %s",
			path, path + 5);
	if (strncmp(path, "fd:", 3) == 0)
		return error_new(ERROR_USAGE,
			"--control %s: sonde takes the name of a FIFO, which it creates if "
			"necessary",
			path);
	is_ours = mkfifo(path, 0600) == 0;
	if (!is_ours && errno != EEXIST)
		return error_system(errno, "--control %s", path);
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return error_system(errno, "--control %s", path);
	if (fstat(fd, &stat) != 0 || !S_ISFIFO(stat.st_mode)) {
		close(fd);
		return error_new(
			ERROR_USAGE, "--control %s: the file exists and is not a FIFO", path);
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

/* Takes a complete line out of the text; false if there is none. */
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
