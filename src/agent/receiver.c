/* The intake in a process of its own, so that no client can delay or break the sampling. */
#include "agent/receiver.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/digests.h"
#include "agent/rights.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/draft.h"
#include "base/file.h"
#include "intake/intake.h"
#include "store/store.h"

#define BODY_MAX    ((size_t)16 << 20)
#define METRICS_MAX ((uint64_t)1 << 20)
/* In .in, of digests.h. */
#define RECEIVER_DIGESTS "digests"
#define AGAIN_NS	 (10 * SECOND_NS)
/* It ends by itself within half a second. */
#define STOPPING_NS (SECOND_NS / 10 * 8)
#define TIME_DIGITS 16 /* "20261127T213348Z" */

/* ---- in the process ---- */

/* Its working directory is .in, and nothing else can be written to. */
struct keeping {
	const struct receiver *receiver;
	struct store *store;
	uint64_t keep_s; /* how long digests are remembered */
};

static struct error *begin(void *context)
{
	const struct keeping *k = context;

	return rights_confine(k->receiver->group, k->receiver->folder_fd);
}

/*
 * The start of a profile that has none of its own.  Senders give whole seconds, and several of
 * their processes may send in the same one.  So the fraction comes from the digest: each is a
 * profile of its own, and the same one if it is sent again.
 */
static uint64_t start_of(const struct keeping *k, const struct intake_origin *origin)
{
	uint64_t start_ns = origin->start_unix_ns;

	if (start_ns == 0) {
		struct digests d;

		/* Opened each time, as a process that ends after one profile may run this. */
		digests_open(&d, RECEIVER_DIGESTS, k->keep_s);
		start_ns = SECOND_NS * digests_time(&d, origin->digest,
					       (uint32_t)(clock_unix_ns() / SECOND_NS));
		digests_close(&d);
	}
	return start_ns % SECOND_NS ? start_ns : start_ns + origin->digest % SECOND_NS;
}

static struct error *keep(
	void *context, struct profile *profile, const struct intake_origin *origin)
{
	const struct keeping *k = context;
	struct store_label *labels = xcalloc(origin->label_count, sizeof(*labels));
	struct store_sent sent;

	if (profile->start_unix_ns == 0)
		profile->start_unix_ns = start_of(k, origin);
	for (size_t i = 0; i < origin->label_count; i++)
		labels[i] = (struct store_label){origin->labels[i].key, origin->labels[i].value};
	const struct store_rows_options options = {.service = origin->service,
		.host = origin->host,
		.labels = labels,
		.label_count = origin->label_count};
	struct error *err = store_send(k->store, profile, &options, &sent);

	store_sent_deinit(&sent);
	free(labels);
	profile_destroy(profile);
	return err;
}

/* The agent's own metrics, as it wrote them last. */
static void put_metrics(void *context, struct strbuf *out)
{
	struct file_bytes bytes;
	struct error *err = file_read(RECEIVER_METRICS, METRICS_MAX, &bytes);

	(void)context;

	if (err) {
		error_destroy(err);
		return;
	}
	strbuf_add(out, (struct str){(const char *)bytes.data, bytes.size});
	file_bytes_deinit(&bytes);
}

/* Until SIGTERM, which also comes when the agent is gone. */
static struct error *receive(const struct receiver *r, int ready_fd)
{
	struct keeping k = {.receiver = r, .keep_s = r->options.keep_ns / SECOND_NS};
	const struct intake_options options = {.address = r->options.address,
		.token_file = r->options.token_file,
		.body_max = BODY_MAX,
		.begin = begin,
		.keep = keep,
		.metrics = put_metrics,
		.context = &k};
	struct intake *intake = NULL;
	sigset_t ends;
	int number;
	struct error *err = store_open("./", &(struct clickhouse_options){0}, &k.store);

	if (err == NULL)
		err = intake_start(&options, &intake);
	if (err == NULL) {
		dprintf(ready_fd, "%s", intake_address(intake));
		close(ready_fd);
		sigemptyset(&ends);
		sigaddset(&ends, SIGTERM);
		sigwait(&ends, &number);
		intake_stop(intake);
	}
	store_close(k.store);
	return err;
}

static void run(const struct receiver *r, struct spool *spool, int ready_fd, pid_t agent)
{
	sigset_t blocked;

	spool_leave_lock(spool);
	/* SIGTERM alone is waited for; Ctrl-C is the agent's to answer. */
	sigfillset(&blocked);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != agent)
		_exit(0);
	prctl(PR_SET_NAME, "sonde-intake");
	struct error *err = receive(r, ready_fd);

	if (err) {
		err = error_prefix(err, "--listen");
		r->options.say(err->message);
	}
	_exit(err ? 1 : 0);
}

/* ---- in the agent ---- */

static bool is_draft(const char *name)
{
	return str_ends_with(str_from(name), STR(DRAFT_ENDING));
}

static bool is_recording(const char *name)
{
	return str_ends_with(str_from(name), STR(SPOOL_ENDING));
}

static void remove_draft(struct receiver *r, struct spool *spool, const char *name)
{
	(void)spool;
	unlinkat(r->folder_fd, name, 0);
}

static void for_files(struct receiver *r, struct spool *spool, bool (*is_asked)(const char *name),
	void (*each)(struct receiver *r, struct spool *spool, const char *name))
{
	DIR *dir = spool_list(r->folder_fd);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (is_asked(entry->d_name))
			each(r, spool, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

/* *is_listening: the process has reported its address. */
static struct error *start(struct receiver *r, struct spool *spool, bool *is_listening)
{
	char address[256];
	int ready[2];
	pid_t agent = getpid();

	*is_listening = false;
	/* Of a process that was killed; none writes now. */
	for_files(r, spool, is_draft, remove_draft);
	if (pipe2(ready, O_CLOEXEC) != 0)
		return error_system(errno, "pipe");
	r->pid = fork();
	if (r->pid == 0) {
		close(ready[0]);
		run(r, spool, ready[1], agent);
	}
	close(ready[1]);
	if (r->pid < 0) {
		r->pid = 0;
		close(ready[0]);
		return error_system(errno, "cannot start a process");
	}
	ssize_t size = read(ready[0], address, sizeof(address) - 1);

	close(ready[0]);
	if (size > 0) {
		char *line;

		address[size] = '\0';
		line = xasprintf("profiles of other programs are taken at %s", address);
		r->options.say(line);
		free(line);
		*is_listening = true;
	}
	return NULL;
}

struct error *receiver_open(struct receiver *r, const struct spool *spool)
{
	*r = RECEIVER_NONE;
	r->group = rights_other_group();
	return spool_part(spool, ".in", r->group, &r->folder_fd);
}

struct error *receiver_start(
	struct receiver *r, const struct receiver_options *options, struct spool *spool)
{
	bool is_listening;

	r->options = *options;
	if (options->address == NULL)
		return NULL;
	struct error *err = start(r, spool, &is_listening);

	if (err == NULL && !is_listening)
		err = error_new(ERROR_SYSTEM, "cannot accept profiles at %s", options->address);
	return err;
}

/* The start of a recording, by its name; without a time in it, now. */
static uint64_t name_time_ns(const char *name)
{
	struct tm utc = {0};
	const char *end = strptime(name, "%Y%m%dT%H%M%SZ", &utc);

	return end == name + TIME_DIGITS ? (uint64_t)timegm(&utc) * SECOND_NS : clock_unix_ns();
}

/* Of "20261127T213348Z-0123456789abcdef.prof". */
static struct str digest_in(const char *name)
{
	const char *digest = strchr(name, '-');

	digest = digest ? digest + 1 : name;
	return (struct str){digest, strcspn(digest, ".")};
}

/*
 * Copies what the process wrote to a file of our own.  It may be another user's process, and if it
 * was taken over, it could have kept its file open, or left a link in its place.
 */
static struct error *copy_in(int from_folder, const char *from, int to_folder, const char *to)
{
	int in = openat(from_folder, from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	struct draft draft;
	struct error *err;
	off_t at = 0;

	if (in < 0 || fstat(in, &st) != 0 || !S_ISREG(st.st_mode)) {
		err = error_new(ERROR_SYSTEM, "cannot take the received profile %s: %s", from,
			in < 0 ? strerror(errno) : "not a regular file");
		if (in >= 0)
			close(in);
		return err;
	}
	err = draft_open(&draft, to_folder, to, 0600);
	while (!err && at < st.st_size) {
		ssize_t got = sendfile(draft.fd, in, &at, (size_t)(st.st_size - at));

		if (got == 0 || (got < 0 && errno != EINTR))
			err = error_system(got ? errno : EIO, "cannot copy %s", from);
	}
	close(in);
	return draft_end(&draft, err);
}

static void take(struct receiver *r, struct spool *spool, const char *name)
{
	char *to = spool_received_name(spool, name_time_ns(name), digest_in(name));
	struct error *err = NULL;

	/* It came again while it waits here. */
	if (spool_has_received(spool, to)) {
		unlinkat(r->folder_fd, name, 0);
		free(to);
		return;
	}
	err = copy_in(r->folder_fd, name, spool->temporary_fd, to);
	if (!err)
		err = spool_take(spool, to);
	if (err)
		r->options.say(err->message);
	/* What cannot be taken never can be, unless the system is short of something. */
	if (!err || err->code == 0)
		unlinkat(r->folder_fd, name, 0);
	error_destroy(err);
	free(to);
}

void receiver_look(struct receiver *r, struct spool *spool, uint64_t now_ns)
{
	bool is_listening;

	if (r->options.address == NULL)
		return;
	for_files(r, spool, is_recording, take);
	if (r->pid == 0 && now_ns >= r->next_ns) {
		r->next_ns = now_ns + AGAIN_NS;
		error_destroy(start(r, spool, &is_listening));
	}
}

bool receiver_ended(struct receiver *r, pid_t pid, uint64_t now_ns)
{
	if (r->pid == 0 || pid != r->pid)
		return false;
	r->pid = 0;
	r->next_ns = now_ns + AGAIN_NS;
	return true;
}

/* Whether the process has ended within that time. */
static bool has_ended_within(pid_t pid, uint64_t time_ns)
{
	const struct timespec pause = {.tv_nsec = 5000000};
	uint64_t until_ns = clock_monotonic_ns() + time_ns;

	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (clock_monotonic_ns() > until_ns)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

/* The process may not: it has no rights any more where it listened. */
static void remove_socket(const char *address)
{
	struct stat st;

	if (strchr(address, '/') && lstat(address, &st) == 0 && S_ISSOCK(st.st_mode))
		unlink(address);
}

void receiver_stop(struct receiver *r, struct spool *spool)
{
	if (r->pid > 0) {
		kill(r->pid, SIGTERM);
		if (!has_ended_within(r->pid, STOPPING_NS)) {
			kill(r->pid, SIGKILL);
			(void)waitpid(r->pid, NULL, 0);
		}
		remove_socket(r->options.address);
	}
	if (r->folder_fd >= 0 && spool->path)
		for_files(r, spool, is_recording, take);
	if (r->folder_fd >= 0)
		close(r->folder_fd);
	*r = RECEIVER_NONE;
}
