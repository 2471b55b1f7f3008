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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/rights.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/draft.h"
#include "base/hash.h"
#include "base/memory.h"
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
enum { STATUS_LATER = 1, STATUS_UNREADABLE, STATUS_LEFT };

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

static struct sender_queue *queue_named(struct sender_queues *queues, const char *place)
{
	for (size_t i = 0; i < queues->list.count; i++)
		if (strcmp(queues->list.data[i].place, place) == 0)
			return &queues->list.data[i];
	return NULL;
}

/* Reports where a segment goes.  Fails if that shard failed before, and it is not time yet. */
static struct error *ask_queue(const struct sender_target *target, const char *place)
{
	struct sender_report *report = target->queues ? target->queues->report : NULL;

	if (!report)
		return NULL;
	const struct sender_queue *queue = queue_named(target->queues, place);

	snprintf(report->place, sizeof(report->place), "%s", place);
	report->is_left = queue && queue->failures > 0 && target->queues->now_ns < queue->next_ns;
	return report->is_left ? error_new(ERROR_SYSTEM, "%s failed before", place) : NULL;
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
	const char *place = store_place_of(store, host);
	struct error *err = ask_queue(target, place);

	if (err)
		return err;
	char *path = known_path(target, place);

	known_load(&known, path, now_s);
	/* Tables that were made anew have nothing of what the others had. */
	if (store_birth(store, host, &birth_s))
		known_check_birth(&known, birth_s);
	const struct store_rows_options options = {
		.host = host, .received_s = now_s, .known = &known, .few_labels = !is_own};

	err = store_send(store, profile, &options, &sent);
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

	*s = (struct sender){.group = -1, .say = say};
	s->queues.report = mmap(NULL, sizeof(*s->queues.report), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	/* Without it, all segments wait for each other. */
	if (s->queues.report == MAP_FAILED)
		s->queues.report = NULL;
	sender_set_target(s, target);
	s->phase_ns = every_ns > 0 ? hash % every_ns : 0;
}

void sender_set_target(struct sender *s, const struct sender_target *target)
{
	s->target = *target;
	s->target.queues = &s->queues;
	/* With another name of the host, it may be another shard. */
	s->own_queue = 0;
}

void sender_deinit(struct sender *s)
{
	for (size_t i = 0; i < s->queues.list.count; i++)
		free(s->queues.list.data[i].place);
	vec_deinit(&s->queues.list);
	if (s->queues.report)
		munmap(s->queues.report, sizeof(*s->queues.report));
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
		if (s->queues.report && s->queues.report->is_left)
			_exit(STATUS_LEFT);
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

static uint32_t queue_number(const struct sender *s, const struct spool_entry *entry)
{
	return spool_digest(entry->name) ? entry->queue : s->own_queue;
}

struct sender_waiting sender_waiting(
	const struct sender *s, const struct spool *spool, size_t queue)
{
	struct sender_waiting waiting = {0};

	for (size_t i = 0; i < spool->entries.count; i++)
		if (queue_number(s, &spool->entries.data[i]) == queue + 1) {
			waiting.segments++;
			waiting.bytes += spool->entries.data[i].bytes;
		}
	return waiting;
}

/*
 * The oldest segment that may be sent now, or NULL.  A shard that failed is tried when no other
 * segment waits, as that may take long.
 */
static const struct spool_entry *next_to_send(
	const struct sender *s, const struct spool *spool, uint64_t now_ns)
{
	const struct spool_entry *sound = NULL, *failing = NULL;

	for (size_t i = 0; i < spool->entries.count; i++) {
		const struct spool_entry *entry = &spool->entries.data[i];
		uint32_t number = queue_number(s, entry);
		const struct sender_queue *queue =
			number > 0 ? &s->queues.list.data[number - 1] : NULL;

		if (s->refusals > 0 && entry->number == s->refused)
			return entry;
		if (!queue || queue->failures == 0)
			sound = sound ? sound : entry;
		else if (now_ns >= queue->next_ns)
			failing = failing ? failing : entry;
	}
	return sound ? sound : failing;
}

void sender_look(struct sender *s, struct spool *spool, uint64_t now_ns, uint64_t free_bytes)
{
	uint64_t memory_bytes = MEMORY_BYTES << s->refusals;

	if (!s->target.store || s->child || spool->entries.count == 0 || now_ns < s->next_ns ||
		free_bytes < memory_bytes)
		return;
	const struct spool_entry *oldest = next_to_send(s, spool, now_ns);

	if (!oldest)
		return;
	uint64_t age_ns = clock_unix_ns() - (uint64_t)oldest->time_s * SECOND_NS;

	/* One that waited for its turn already does not wait again. */
	if (s->failures == 0 && spool->entries.count == 1 && age_ns < s->phase_ns)
		return;
	s->limit_bytes = memory_of(getpid()).mapped_bytes + memory_bytes;
	s->queues.now_ns = now_ns;
	if (s->queues.report)
		*s->queues.report = (struct sender_report){0};
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

static struct spool_entry *entry_named(struct spool *spool, const char *name)
{
	for (size_t i = 0; i < spool->entries.count && name; i++)
		if (strcmp(spool->entries.data[i].name, name) == 0)
			return &spool->entries.data[i];
	return NULL;
}

/* The queue that the segment was found to belong to, or NULL. */
static struct sender_queue *learn_queue(struct sender *s, struct spool *spool)
{
	const char *place = s->queues.report ? s->queues.report->place : "";
	struct spool_entry *entry = entry_named(spool, s->name);
	struct sender_queue *queue = place[0] ? queue_named(&s->queues, place) : NULL;

	if (!place[0])
		return NULL;
	if (!queue) {
		vec_push(&s->queues.list, (struct sender_queue){.place = xstrdup(place)});
		queue = &s->queues.list.data[s->queues.list.count - 1];
	}
	uint32_t number = (uint32_t)(queue - s->queues.list.data) + 1;

	if (entry)
		entry->queue = number;
	if (s->name && !spool_digest(s->name))
		s->own_queue = number;
	return queue;
}

static void count_failure(struct sender *s, struct sender_queue *queue, uint64_t now_ns)
{
	if (!queue) {
		back_off(s, now_ns);
		return;
	}
	queue->failures++;
	queue->errors++;
	queue->next_ns = now_ns + sender_back_off_ns(queue->failures, random_share());
}

/* Done with the segment that was sent, or never can be: removes it. */
static struct error *leave(struct sender *s, struct spool *spool, bool is_sent, bool is_dropped)
{
	const struct spool_entry *entry = entry_named(spool, s->name);

	/* The limit may have dropped it meanwhile. */
	if (!entry)
		return NULL;
	s->sent_bytes += is_sent ? entry->bytes : 0;
	size_t at = (size_t)(entry - spool->entries.data);

	return is_dropped ? spool_drop(spool, at) : spool_remove(spool, at);
}

/* Counts how often memory was refused for the segment; whether it is given up. */
static bool is_too_large(struct sender *s, struct spool *spool, int status)
{
	const struct spool_entry *entry = entry_named(spool, s->name);

	s->refusals = memory_was_refused(status) ? s->refusals + 1 : 0;
	s->refused = entry ? entry->number : 0;
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
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	struct sender_queue *queue = learn_queue(s, spool);
	bool is_sent = code == 0, is_left = code == STATUS_LEFT && queue;
	/* What never can be sent is lost, as is what takes too much memory. */
	bool is_dropped = is_too_large(s, spool, status) || code == STATUS_UNREADABLE;
	bool is_done = is_sent || is_dropped;
	struct error *err = NULL;

	s->sent += is_sent;
	s->errors += !is_sent && !is_left;
	if (is_done)
		err = leave(s, spool, is_sent, is_dropped);
	else if (WIFSIGNALED(status))
		err = death(s, WTERMSIG(status));
	if (err)
		s->say(err->message);
	/* What stays in the spool is sent again, but not each second. */
	if (is_done && err == NULL) {
		s->failures = 0;
		if (queue && is_sent)
			queue->failures = 0;
	} else if (!is_left) {
		bool is_shards = code == STATUS_LATER ||
				 (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);

		count_failure(s, is_shards ? queue : NULL, now_ns);
	}
	error_destroy(err);
	s->child = 0;
	spool->under_way = NULL;
	free(s->name);
	s->name = NULL;
}
