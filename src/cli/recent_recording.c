/*
 * The recorder is a child of its own, because it must run at once when a sample wants it, whatever
 * its parent draws.  SIGUSR2 asks it for a dump; a pipe brings the path of each finished file; its
 * end is the recorder's.  What the recorder says goes to a file, as the terminal belongs to the
 * parent, and is the error's text if it fails.
 */
#include "cli/recent_recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"

struct recent_recording {
	pid_t pid;
	int written;	      /* read end of the pipe */
	char *folder;	      /* private */
	char *output;	      /* in it; dumps are beside it */
	char *messages;	      /* in it */
	struct strbuf path;   /* read from the pipe, not yet whole */
	bool is_asked;	      /* for a dump that has not come */
	bool has_ended;	      /* the pipe is closed */
	bool has_had_session; /* so that an end is not a failure */
};

/* ---- the child ---- */

static void send_path(void *data, const char *path)
{
	const int *pipe_end = data;
	const char *text = path ? path : "";
	struct error *err = file_write_all(*pipe_end, text, strlen(text) + 1, "a pipe");

	error_destroy(err); /* the parent is gone */
}

static _Noreturn void record(
	const struct recent_recording *r, struct record_request *request, int pipe_end)
{
	struct record_outcome outcome;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int messages = open(r->messages, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	/* Keys that send signals to what the terminal shows are not for the recorder. */
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(messages >= 0 ? messages : null, STDERR_FILENO);
	request->output = r->output;
	request->quiet = true;
	request->hint = false;
	request->written = send_path;
	request->written_data = &pipe_end;
	record_session_run(request, &outcome);
	_exit(outcome.recorded ? 0 : 1);
}

/* ---- the parent ---- */

static struct error *make_folder(struct recent_recording *r)
{
	const char *place = getenv("TMPDIR");

	r->folder = xasprintf("%s/sonde-XXXXXX", place && *place ? place : "/tmp");
	if (mkdtemp(r->folder) == NULL)
		return error_system(errno, "%s", r->folder);
	r->output = xasprintf("%s/recent.prof", r->folder);
	r->messages = xasprintf("%s/messages", r->folder);
	return NULL;
}

static struct error *start(struct recent_recording *r, struct record_request *request)
{
	sigset_t dump, before;
	int ends[2];
	struct error *err = make_folder(r);

	if (err)
		return err;
	if (pipe2(ends, O_CLOEXEC))
		return error_system(errno, "no pipe to the recorder");
	/* So that a request may come before the recorder waits for it. */
	sigemptyset(&dump);
	sigaddset(&dump, SIGUSR2);
	sigprocmask(SIG_BLOCK, &dump, &before);
	r->pid = fork();
	if (r->pid == 0) {
		close(ends[0]);
		record(r, request, ends[1]);
	}
	if (r->pid < 0)
		err = error_system(errno, "no process for the recorder");
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[1]);
	r->written = ends[0];
	return err;
}

/* False: the time is over. */
static bool wait_for_pipe(const struct recent_recording *r, uint64_t wait_ms)
{
	struct pollfd end = {.fd = r->written, .events = POLLIN};
	uint64_t until_ns = clock_monotonic_ns() + wait_ms * 1000000, now_ns;
	int count;

	do {
		now_ns = clock_monotonic_ns();
		count = poll(&end, 1, now_ns < until_ns ? (int)((until_ns - now_ns) / 1000000) : 0);
	} while (count < 0 && errno == EINTR);
	return count > 0;
}

struct error *recent_recording_start(
	struct record_request *request, uint64_t first_ms, struct recent_recording **recording)
{
	struct recent_recording *r = xcalloc(1, sizeof(*r));
	struct error *err;

	r->written = -1;
	err = start(r, request);
	if (err) {
		recent_recording_stop(r);
		return err;
	}
	(void)wait_for_pipe(r, first_ms);
	*recording = r;
	return NULL;
}

/* ---- what it has written ---- */

/* Adds what is in the pipe; sets has_ended where it ends. */
static void fill_path(struct recent_recording *r)
{
	char bytes[512];
	ssize_t count = read(r->written, bytes, sizeof(bytes));

	if (count > 0)
		strbuf_add(&r->path, (struct str){bytes, (size_t)count});
	else if (count == 0 || errno != EINTR)
		r->has_ended = true;
}

/* The first path that has come, "" of a file that failed; NULL: none is whole. */
static char *take_path(struct recent_recording *r)
{
	const char *end = r->path.size ? memchr(r->path.data, '\0', r->path.size) : NULL;

	if (end == NULL)
		return NULL;
	size_t size = (size_t)(end - r->path.data) + 1;
	char *path = xstrdup(r->path.data);

	memmove(r->path.data, r->path.data + size, r->path.size - size);
	r->path.size -= size;
	return path;
}

static struct error *open_session(const char *path, struct session **session)
{
	struct file_bytes bytes;
	struct error *err = file_read(path, 0, &bytes);

	if (err)
		return err;
	err = session_open_bytes(
		&(struct reader_input){.name = "now", .data = bytes.data, .size = bytes.size},
		"sonde", session);
	file_bytes_deinit(&bytes);
	return err;
}

/* The last line that the recorder has printed, without its "sonde: ". */
static struct error *failure(const struct recent_recording *r)
{
	struct file_bytes bytes = {0};
	struct error *err = file_read(r->messages, 0, &bytes);
	struct str text = {(const char *)bytes.data, err ? 0 : bytes.size}, last = {0};

	error_destroy(err);
	while (text.size) {
		struct str line = str_take_line(&text);

		if (line.size)
			last = line;
	}
	if (str_starts_with(last, STR("sonde: ")))
		last = (struct str){last.data + 7, last.size - 7};
	err = error_new(ERROR_SYSTEM, "%.*s",
		STR_ARG(last.size ? last : STR("the recorder has ended without a recording")));
	file_bytes_deinit(&bytes);
	return err;
}

struct error *recent_recording_take(
	struct recent_recording *recording, uint64_t wait_ms, struct session **session)
{
	struct recent_recording *r = recording;
	uint64_t until_ns = clock_monotonic_ns() + wait_ms * 1000000, now_ns;
	struct error *err = NULL;
	char *path;

	*session = NULL;
	if (!r->is_asked && !r->has_ended)
		kill(r->pid, SIGUSR2);
	r->is_asked = true;
	while ((path = take_path(r)) == NULL && !r->has_ended) {
		now_ns = clock_monotonic_ns();
		if (!wait_for_pipe(r, now_ns < until_ns ? (until_ns - now_ns) / 1000000 : 0))
			return NULL;
		fill_path(r);
	}
	if (path && path[0]) {
		err = open_session(path, session);
		unlink(path);
		r->is_asked = false;
		r->has_had_session |= err == NULL;
	} else if (path || !r->has_had_session) {
		err = failure(r);
	}
	free(path);
	return err;
}

bool recent_recording_has_ended(const struct recent_recording *recording)
{
	return recording->has_ended && recording->path.size == 0;
}

static void remove_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)) != NULL)
		(void)unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
	(void)rmdir(path);
}

void recent_recording_stop(struct recent_recording *recording)
{
	struct recent_recording *r = recording;

	if (r == NULL)
		return;
	if (r->pid > 0) {
		kill(r->pid, SIGTERM);
		while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	/* A dump that is still being written holds the pipe open. */
	while (r->written >= 0 && !r->has_ended)
		fill_path(r);
	if (r->written >= 0)
		close(r->written);
	if (r->output)
		remove_folder(r->folder);
	free(r->folder);
	free(r->output);
	free(r->messages);
	strbuf_deinit(&r->path);
	free(r);
}
