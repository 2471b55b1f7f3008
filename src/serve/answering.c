/*
 * Answers in a child process.  What it writes into a pipe begins with one byte, for an answer or a
 * refusal; what follows is text up to the end.  Without that byte, or with another exit status than
 * 0, it failed.
 */
#include "serve/answering.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define BYTE_ANSWER  'A'
#define BYTE_REFUSAL 'R'
/* Bytes read at a time. */
#define READ_BYTES 65536u

static void begin_answer(struct sink *sink)
{
	strbuf_add_char(&sink->text, BYTE_ANSWER);
}

/* The C library's function of this name is younger than the call. */
static void close_all(int first, unsigned int last)
{
	syscall(SYS_close_range, (unsigned int)first, last, 0u);
}

/* Nobody else's connections, nor the terminal, are the child's. */
static void leave_behind(int pipe_fd, int root_fd)
{
	int low = pipe_fd < root_fd ? pipe_fd : root_fd,
	    high = pipe_fd < root_fd ? root_fd : pipe_fd;
	int null = open("/dev/null", O_RDWR);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	if (low > 3)
		close_all(3, (unsigned)low - 1);
	if (high > low + 1)
		close_all(low + 1, (unsigned)high - 1);
	close_all(high + 1, ~0u);
}

static void set_limits(pid_t parent)
{
	const struct rlimit seconds = {ANSWERING_SECONDS, ANSWERING_SECONDS + 1}, none = {0, 0};

	sigset_t none_blocked;

	sigemptyset(&none_blocked);
	sigprocmask(SIG_SETMASK, &none_blocked, NULL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CPU, &seconds);
	setrlimit(RLIMIT_CORE, &none);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
}

static void answer(int fd, struct request *request)
{
	struct sink sink;

	sink_init(&sink, fd, "the answer");
	struct error *err = request_answer(request, &sink, begin_answer);

	if (err) {
		strbuf_add_char(&sink.text, BYTE_REFUSAL);
		strbuf_add(&sink.text, str_from(err->message));
		if (err->detail) {
			strbuf_add_char(&sink.text, '\n');
			strbuf_add(&sink.text, str_from(err->detail));
		}
	}
	err = sink_finish(&sink);
	_exit(err ? EXIT_FAILURE : EXIT_SUCCESS);
}

struct error *answering_start(struct answering *a, struct request *request, size_t most)
{
	pid_t parent = getpid();
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return error_system(errno, "cannot make a pipe");
	pid_t pid = fork();

	if (pid < 0) {
		int code = errno;

		close(fds[0]);
		close(fds[1]);
		return error_system(code, "cannot start a process");
	}
	if (pid == 0) {
		set_limits(parent);
		leave_behind(fds[1], source_root_fd(request->served->root));
		answer(fds[1], request);
	}
	close(fds[1]);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	*a = (struct answering){.pid = pid, .fd = fds[0], .most = most};
	return NULL;
}

static int end(struct answering *a)
{
	int status = 0;

	while (waitpid(a->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(a->fd);
	a->pid = 0;
	a->fd = -1;
	return status;
}

static enum answering_state fail(struct answering *a, const char *why)
{
	if (a->pid) {
		kill(a->pid, SIGKILL);
		(void)end(a);
	}
	strbuf_clear(&a->text);
	strbuf_add(&a->text, str_from(why));
	return ANSWERING_FAILED;
}

/* All has been read. */
static enum answering_state finish(struct answering *a)
{
	int status = end(a);
	char first = a->text.size ? a->text.data[0] : '\0';

	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
		return fail(a, "the answer takes too long; filters and --limit make it shorter");
	if (status != 0 || (first != BYTE_ANSWER && first != BYTE_REFUSAL))
		return fail(a, "the answer failed; this is an error in sonde");
	memmove(a->text.data, a->text.data + 1, a->text.size);
	a->text.size--;
	return first == BYTE_ANSWER ? ANSWERING_DONE : ANSWERING_REFUSED;
}

enum answering_state answering_read(struct answering *a)
{
	char bytes[READ_BYTES];
	ssize_t size = read(a->fd, bytes, sizeof(bytes));

	if (size < 0)
		return errno == EAGAIN || errno == EINTR ? ANSWERING_RUNS
							 : fail(a, "cannot read the answer");
	if (size == 0)
		return finish(a);
	if (a->text.size + (size_t)size > a->most + 1)
		return fail(a, "the answer is too large; --limit makes it shorter");
	strbuf_add(&a->text, (struct str){bytes, (size_t)size});
	return ANSWERING_RUNS;
}

void answering_deinit(struct answering *a)
{
	if (a->pid) {
		kill(a->pid, SIGKILL);
		(void)end(a);
	}
	strbuf_deinit(&a->text);
}
