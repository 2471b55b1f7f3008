/*
 * "Exponential back-off and jitter" as the AWS architecture blog describes it: half of the time is
 * fixed, the other half random, so that hosts do not come back at once when a store does.
 */
#include "agent/sender.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/memory.h"
#include "agent/rights.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/draft.h"
#include "base/hash.h"
#include "formats/readers.h"
#include "store/identity.h"
#include "store/known.h"
#include "store/store.h"

#define BACK_OFF_NS	 SECOND_NS
#define BACK_OFF_MOST	 (300 * SECOND_NS)
#define SEND_SECONDS_MAX 300
/* What the child may take beyond what the agent has: at first, and how often that is doubled. */
#define MEMORY_BYTES ((uint64_t)8 << 20)
#define REFUSALS_MAX 3

/* Of the process that sends. */
enum { STATUS_LATER = 1, STATUS_UNREADABLE };

bool sender_is_url(const char *store)
{
	return strstr(store, "://") != NULL;
}

struct error *sender_check(const char *store)
{
	struct store_address address;
	struct error *err = store_address_parse(store, &address);

	if (err == NULL)
		store_address_deinit(&address);
	return err;
}

/* ---- one segment ---- */

static struct error *copy(int from, int to, const char *path)
{
	ssize_t got;

	do
		got = sendfile(to, from, NULL, (size_t)1 << 20);
	while (got > 0 || (got < 0 && errno == EINTR));
	if (got < 0 || fsync(to) != 0)
		return error_system(errno, "cannot write %s", path);
	return NULL;
}

/*
 * "20261127T213348Z-000042-0123456789abcdef.prof": hosts that share a folder number alike.  A
 * received one, which may have been sent before and to other hosts, too, has its digest alone.
 */
static char *name_in_folder(const struct sender_target *target, const char *path)
{
	struct str name = str_base_name(str_from(path));
	const char *digest = spool_digest(name.data);

	if (digest)
		return xasprintf("%.*s%s", (int)strcspn(name.data, "-"), name.data, digest);
	if (str_ends_with(name, STR(SPOOL_ENDING)))
		name.size -= strlen(SPOOL_ENDING);
	return xasprintf("%.*s-%016llx" SPOOL_ENDING, STR_ARG(name),
		(unsigned long long)identity_bytes(str_from(target->host)));
}

static struct error *push_to_folder(const struct sender_target *target, int in, const char *path)
{
	char *name = name_in_folder(target, path);
	char *to = xasprintf("%s/%s", target->store, name);
	struct draft draft;
	struct error *err = draft_open(&draft, AT_FDCWD, to, 0600);

	if (!err) {
		draft_share(&draft);
		err = draft_end(&draft, copy(in, draft.fd, to));
	}
	free(name);
	free(to);
	return err;
}

/*
 * What was sent to a shard is remembered in a file of its own in the spool: received profiles have
 * hosts of their own, and so go to several shards.
 */
static char *known_path(const struct sender_target *target, const char *shard)
{
	uint64_t hash = identity_after(
		identity_bytes(str_from(target->store)), identity_bytes(str_from(shard)));

	return xasprintf("%s/.sent-%016llx", target->spool, (unsigned long long)hash);
}

/* A segment is one profile of each service, with the time at which it began. */
static struct error *push_profile(
	const struct sender_target *target, struct store *store, const struct profile *profile)
{
	struct known known;
	struct store_sent sent;
	uint64_t now_s = clock_unix_ns() / SECOND_NS;
	uint32_t birth_s;
	/* What other programs sent keeps their labels and hosts. */
	bool is_own = str_starts_with(profile_string(profile, profile->command), STR("["));
	struct str host = is_own ? STR("") : profile_string(profile, profile->host);

	if (host.size == 0)
		host = str_from(target->host);
	char *path = known_path(target, store_place_of(store, host));

	known_load(&known, path, now_s);
	/* Tables that were made anew have nothing of what the others had. */
	if (store_birth(store, host, &birth_s))
		known_check_birth(&known, birth_s);
	const struct store_rows_options options = {
		.host = host, .received_s = now_s, .known = &known, .few_labels = !is_own};
	struct error *err = store_send(store, profile, &options, &sent);

	for (size_t i = 0; i < sent.hashes.count && err == NULL; i++)
		known_add(&known, sent.hashes.data[i]);
	/* Without the file, the next segment is only larger. */
	if (err == NULL)
		error_destroy(known_save(&known, path));
	store_sent_deinit(&sent);
	known_deinit(&known);
	free(path);
	return err;
}

static struct error *push_to_servers(const struct sender_target *target, struct store *store,
	const char *path, bool *is_unreadable)
{
	struct profile *profile = NULL;
	/* With one thread, as each has memory of its own. */
	const struct read_options options = {.jobs = 1};
	struct error *err = profile_read_with(path, &options, &profile);

	/* A lack of memory or of descriptors passes; a file that is gone stays gone. */
	*is_unreadable = err && (err->kind != ERROR_SYSTEM || err->code == ENOENT);
	if (err == NULL)
		err = push_profile(target, store, profile);
	profile_destroy(profile);
	return err;
}

struct error *sender_push(const struct sender_target *target, const char *path, bool *is_unreadable)
{
	struct store *store = NULL;
	struct error *err;

	*is_unreadable = false;
	if (sender_is_url(target->store)) {
		err = store_open(target->store, &target->access, &store);
		if (err == NULL)
			err = push_to_servers(target, store, path, is_unreadable);
		store_close(store);
		return err;
	}
	int in = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (in < 0)
		return error_system(errno, "cannot open %s", path);
	err = push_to_folder(target, in, path);
	close(in);
	return err;
}

/* ---- in a process of few rights ---- */

/* The process does all else in the folder that rights_confine leaves it. */
static struct error *push_to_servers_confined(const struct sender *s, const struct spool *spool,
	int in, const char *name, bool *is_unreadable)
{
	struct sender_target target = s->target;
	char *ca_file = target.access.ca_file ? realpath(target.access.ca_file, NULL) : NULL;
	struct store *store = NULL;
	int folder = -1;
	struct error *err;

	target.spool = ".";
	if (ca_file)
		target.access.ca_file = ca_file;
	/* The passwords' file is read here. */
	err = store_open(target.store, &target.access, &store);
	if (err == NULL)
		err = spool_part(spool, ".sent", s->group, &folder);
	if (err == NULL)
		err = rights_confine(s->group, folder);
	if (err == NULL && dup2(in, STDIN_FILENO) < 0)
		err = error_system(errno, "cannot open %s", name);
	if (err == NULL) {
		err = push_to_servers(&target, store, "-", is_unreadable);
		if (err && *is_unreadable)
			err = error_prefix(err, "the segment %s", name);
	}
	store_close(store);
	free(ca_file);
	return err;
}

/* As the same user: to write there takes that user, and nothing is read that others wrote. */
static struct error *push_to_folder_confined(const struct sender *s, int in, const char *name)
{
	struct sender_target target = s->target;
	int folder = open(target.store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct error *err = folder < 0 ? error_system(errno, "cannot open %s", target.store)
				       : rights_confine(-1, folder);

	target.store = ".";
	return err ? err : push_to_folder(&target, in, name);
}

static struct error *push_confined(
	const struct sender *s, const struct spool *spool, const char *name, bool *is_unreadable)
{
	int in = openat(spool->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	*is_unreadable = in < 0 && errno == ENOENT;
	if (in < 0)
		return error_system(errno, "cannot open %s/%s", spool->path, name);
	return sender_is_url(s->target.store)
		       ? push_to_servers_confined(s, spool, in, name, is_unreadable)
		       : push_to_folder_confined(s, in, name);
}

/* ---- when ---- */

void sender_init(struct sender *s, const struct sender_target *target, uint64_t every_ns,
	void (*say)(const char *line))
{
	uint64_t hash = hash_u64(crc32c(0, target->host, strlen(target->host)));

	*s = (struct sender){.target = *target, .group = -1, .say = say};
	s->phase_ns = every_ns > 0 ? hash % every_ns : 0;
}

void sender_deinit(struct sender *s)
{
	free(s->name);
	*s = (struct sender){0};
}

uint64_t sender_back_off_ns(uint32_t failures, double random)
{
	uint64_t most_ns = BACK_OFF_NS;

	while (--failures > 0 && most_ns < BACK_OFF_MOST)
		most_ns *= 2;
	if (most_ns > BACK_OFF_MOST)
		most_ns = BACK_OFF_MOST;
	return most_ns / 2 + (uint64_t)((double)most_ns / 2 * random);
}

static double random_share(void)
{
	uint32_t bits = 0;

	if (getrandom(&bits, sizeof(bits), GRND_NONBLOCK) != sizeof(bits))
		bits = (uint32_t)hash_u64(clock_monotonic_ns());
	return (double)bits / UINT32_MAX;
}

static void send_in_child(
	const struct sender *s, struct spool *spool, const char *name, pid_t parent)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(STATUS_LATER);
	spool_leave_lock(spool);
	memory_small_stacks();
	(void)memory_limit(0, s->limit_bytes);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* A store that never answers must not hold the spool for ever. */
	alarm(SEND_SECONDS_MAX);
	bool is_unreadable;
	struct error *err = push_confined(s, spool, name, &is_unreadable);

	if (err) {
		err = error_prefix(err, "sending to %s", s->target.store);
		s->say(err->message);
	}
	_exit(is_unreadable ? STATUS_UNREADABLE : err ? STATUS_LATER : 0);
}

static void back_off(struct sender *s, uint64_t now_ns)
{
	s->failures++;
	s->next_ns = now_ns + sender_back_off_ns(s->failures, random_share());
}

void sender_look(struct sender *s, struct spool *spool, uint64_t now_ns, uint64_t free_bytes)
{
	uint64_t memory_bytes = MEMORY_BYTES << s->refusals;

	if (!s->target.store || s->child || spool->entries.count == 0 || now_ns < s->next_ns ||
		free_bytes < memory_bytes)
		return;
	const struct spool_entry *oldest = &spool->entries.data[0];
	uint64_t age_ns = clock_unix_ns() - (uint64_t)oldest->time_s * SECOND_NS;

	/* One that waited for its turn already does not wait again. */
	if (s->failures == 0 && spool->entries.count == 1 && age_ns < s->phase_ns)
		return;
	s->limit_bytes = memory_of(getpid()).mapped_bytes + memory_bytes;
	pid_t parent = getpid(), pid = fork();

	if (pid == 0)
		send_in_child(s, spool, oldest->name, parent);
	if (pid > 0) {
		s->child = pid;
		s->name = xstrdup(oldest->name);
		spool->under_way = s->name;
	} else {
		back_off(s, now_ns);
	}
}

/* Done with the segment that was sent, or never can be: removes it. */
static struct error *leave(struct sender *s, struct spool *spool, bool is_sent, bool is_dropped)
{
	/* The limit may have dropped it meanwhile. */
	for (size_t i = 0; i < spool->entries.count; i++)
		if (strcmp(spool->entries.data[i].name, s->name) == 0) {
			uint64_t bytes = spool->entries.data[i].bytes;

			s->sent_bytes += is_sent ? bytes : 0;
			spool->dropped += is_dropped;
			spool->dropped_bytes += is_dropped ? bytes : 0;
			return spool_remove(spool, i);
		}
	return NULL;
}

/* Counts how often memory was refused for the segment; whether it is given up. */
static bool is_too_large(struct sender *s, int status)
{
	s->refusals = memory_was_refused(status) ? s->refusals + 1 : 0;
	if (s->refusals < REFUSALS_MAX)
		return false;
	s->refusals = 0;
	s->say("a segment is dropped, as sending it takes too much of the agent's memory");
	return true;
}

/* Says what the process could not say itself. */
static struct error *death(const struct sender *s, int number)
{
	if (number == SIGALRM)
		return error_new(ERROR_SYSTEM,
			"sending to %s took longer than %d s; it will be tried again",
			s->target.store, SEND_SECONDS_MAX);
	return error_new(ERROR_SYSTEM,
		"the process that sends to %s was killed by signal %d (%s); it will be tried again",
		s->target.store, number, strsignal(number));
}

void sender_stop(struct sender *s)
{
	if (s->child)
		kill(s->child, SIGKILL);
	s->child = 0;
}

void sender_ended(struct sender *s, struct spool *spool, int status, uint64_t now_ns)
{
	bool is_sent = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	bool is_dropped = is_too_large(s, status);
	bool is_done = is_sent || is_dropped ||
		       (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_UNREADABLE);
	struct error *err = NULL;

	s->sent += is_sent;
	s->errors += !is_sent;
	if (is_done)
		err = leave(s, spool, is_sent, is_dropped);
	else if (WIFSIGNALED(status))
		err = death(s, WTERMSIG(status));
	if (err)
		s->say(err->message);
	/* What stays in the spool is sent again, but not each second. */
	if (is_done && err == NULL)
		s->failures = 0;
	else
		back_off(s, now_ns);
	error_destroy(err);
	s->child = 0;
	spool->under_way = NULL;
	free(s->name);
	s->name = NULL;
}
