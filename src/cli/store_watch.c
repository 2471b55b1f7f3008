/*
 * The child writes its answer into memory that it shares with its parent as a file: first what it
 * saw of hosts and shards, then the profile as a recording.  The parent reads it when the child has
 * ended.  Each question is a child of its own, which takes its memory and connections with it.
 *
 * Hosts are remembered, so that one that sends no more is missed.
 */
#include "cli/store_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/wire.h"
#include "formats/writers.h"

/* A question that takes longer is worth a word. */
#define SLOW_S 10
/* How often to see whether the child has ended, while somebody waits for it. */
#define LOOK_MS 10

/* A host that has sent something. */
struct watched_host {
	char *name;
	uint64_t last_s, end_s; /* as in struct store_glance_host */
	bool is_shown;		/* the last picture has something of it */
};

enum answer_kind { ANSWER_ERROR, ANSWER_SAME, ANSWER_NOTHING, ANSWER_PROFILE };

struct store_watch {
	struct store_options *options;
	struct store *store;
	uint64_t keep_s;
	pid_t pid; /* of the child that asks; 0: none */
	int answer;
	uint64_t asked_ns;     /* monotonic, when it began */
	uint64_t asked_from_s; /* the begin of its range */
	/* Of the last answer. */
	uint64_t mark;
	bool has_session;
	size_t silent_count;
	char *problem; /* NULL: it was answered */
	bool has_losses;
	/* Those seen so far. */
	VEC(struct watched_host) hosts;
	struct strbuf state;
};

struct error *store_watch_create(
	struct store_options *options, uint64_t keep_s, struct store_watch **watch)
{
	struct store *store;
	struct error *err = store_options_open(options, &store);

	if (err)
		return err;
	*watch = xcalloc(1, sizeof(**watch));
	**watch = (struct store_watch){
		.options = options, .store = store, .keep_s = keep_s, .answer = -1};
	return NULL;
}

static void end_child(struct store_watch *w)
{
	if (w->pid > 0) {
		kill(w->pid, SIGKILL);
		while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	w->pid = 0;
	if (w->answer >= 0)
		close(w->answer);
	w->answer = -1;
}

void store_watch_destroy(struct store_watch *watch)
{
	if (watch == NULL)
		return;
	end_child(watch);
	for (size_t i = 0; i < watch->hosts.count; i++)
		free(watch->hosts.data[i].name);
	vec_deinit(&watch->hosts);
	strbuf_deinit(&watch->state);
	free(watch->problem);
	free(watch);
}

bool store_watch_is_asking(const struct store_watch *watch)
{
	return watch->pid > 0;
}

/* ---- the child ---- */

static bool has_recent(const struct store_glance *glance, uint64_t from_s)
{
	for (size_t i = 0; i < glance->hosts.count; i++)
		if (glance->hosts.data[i].last_s >= from_s)
			return true;
	return false;
}

static void put_glance(struct strbuf *out, enum answer_kind kind, const char *words,
	const struct store_glance *glance)
{
	wire_put_u8(out, (uint8_t)kind);
	wire_put_str(out, str_from(words));
	wire_put_u64(out, glance->mark);
	wire_put_u64(out, glance->silent.count);
	wire_put_u64(out, glance->hosts.count);
	for (size_t i = 0; i < glance->hosts.count; i++) {
		wire_put_str(out, str_from(glance->hosts.data[i].name));
		wire_put_u64(out, glance->hosts.data[i].last_s);
		wire_put_u64(out, glance->hosts.data[i].end_s);
	}
}

static struct error *write_answer(struct sink *sink, enum answer_kind kind,
	const struct error *problem, const struct store_glance *glance,
	const struct profile *profile)
{
	struct writer_options options = {0};

	put_glance(&sink->text, kind, problem ? problem->message : "", glance);
	if (profile == NULL)
		return NULL;
	options.metric = profile->default_metric;
	return writer_sonde.write(sink, profile, &options);
}

/* What the child does: the exit status. */
static int answer(const struct store_watch *w)
{
	struct store_query query = w->options->query;
	struct store_glance glance;
	struct profile *profile = NULL;
	struct sink sink;
	enum answer_kind kind = ANSWER_PROFILE;
	struct error *problem, *err, *finish;

	query.since_s = w->asked_from_s;
	query.until_s = 0;
	problem = store_glance(w->store, &query, w->has_session ? w->mark : 0, &glance);
	if (problem == NULL && w->has_session && glance.mark == w->mark)
		kind = ANSWER_SAME;
	else if (problem == NULL && !has_recent(&glance, query.since_s))
		kind = ANSWER_NOTHING;
	else if (problem == NULL)
		problem = store_fetch(w->store, &query, &profile);
	if (problem)
		kind = ANSWER_ERROR;
	sink_init(&sink, w->answer, "the answer");
	err = write_answer(&sink, kind, problem, &glance, profile);
	finish = sink_finish(&sink);
	return err || finish ? EXIT_FAILURE : EXIT_SUCCESS;
}

static _Noreturn void ask(const struct store_watch *w, pid_t parent)
{
	sigset_t none;

	/* Keys that send signals are for what the terminal shows. */
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	_exit(answer(w));
}

/* ---- the parent ---- */

static struct error *start(struct store_watch *w)
{
	pid_t parent = getpid();

	w->answer = (int)syscall(SYS_memfd_create, "sonde-answer", MFD_CLOEXEC);
	if (w->answer < 0)
		return error_system(errno, "no memory for the store's answer");
	w->asked_ns = clock_monotonic_ns();
	w->asked_from_s = clock_unix_ns() / SECOND_NS - w->keep_s;
	w->pid = fork();
	if (w->pid == 0)
		ask(w, parent);
	if (w->pid > 0)
		return NULL;
	int code = errno;

	w->pid = 0;
	end_child(w);
	return error_system(code, "no process to ask the store");
}

/* Whether the child has ended within that time; *status is then its own. */
static bool wait_for_child(struct store_watch *w, uint64_t wait_ms, int *status)
{
	uint64_t until_ns = clock_monotonic_ns() + wait_ms * 1000000;
	pid_t ended;

	while ((ended = waitpid(w->pid, status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
		if (clock_monotonic_ns() >= until_ns)
			return false;
		(void)poll(NULL, 0, LOOK_MS);
	}
	if (ended < 0)
		*status = -1;
	return true;
}

static void remember_host(struct store_watch *w, struct str name, uint64_t last_s, uint64_t end_s)
{
	bool is_shown = last_s >= w->asked_from_s;

	for (size_t i = 0; i < w->hosts.count; i++) {
		struct watched_host *host = &w->hosts.data[i];

		if (!str_equal(str_from(host->name), name))
			continue;
		host->last_s = last_s > host->last_s ? last_s : host->last_s;
		host->end_s = end_s > host->end_s ? end_s : host->end_s;
		host->is_shown = is_shown;
		return;
	}
	vec_push(&w->hosts,
		(struct watched_host){xstrndup(name.data, name.size), last_s, end_s, is_shown});
}

/* One that is away so long is no longer missed. */
static void forget_hosts(struct store_watch *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->hosts.count; i++) {
		if (w->hosts.data[i].last_s + STORE_GLANCE_BEFORE_S < w->asked_from_s)
			free(w->hosts.data[i].name);
		else
			w->hosts.data[kept++] = w->hosts.data[i];
	}
	w->hosts.count = kept;
}

static void put_age(struct strbuf *out, uint64_t age_s)
{
	if (age_s < 120)
		strbuf_printf(out, "%" PRIu64 " s", age_s);
	else if (age_s < 7200)
		strbuf_printf(out, "%" PRIu64 " min", age_s / 60);
	else
		strbuf_printf(out, "%" PRIu64 " h", age_s / 3600);
}

/* Of those that the picture shows. */
static size_t shown_hosts(const struct store_watch *w)
{
	size_t count = 0;

	for (size_t i = 0; i < w->hosts.count; i++)
		count += w->hosts.data[i].is_shown;
	return count;
}

/* Since the end of the newest interval; a clock that is ahead makes it 0. */
static uint64_t newest_age_s(const struct store_watch *w)
{
	uint64_t newest_s = 0, now_s = clock_unix_ns() / SECOND_NS;
	bool is_any = shown_hosts(w) == 0;

	for (size_t i = 0; i < w->hosts.count; i++)
		if ((is_any || w->hosts.data[i].is_shown) && w->hosts.data[i].end_s > newest_s)
			newest_s = w->hosts.data[i].end_s;
	return newest_s < now_s ? now_s - newest_s : 0;
}

static struct error *nothing_there(const struct store_watch *w)
{
	struct strbuf words = {0};

	strbuf_add(&words, STR("no profiles of the last "));
	put_age(&words, w->keep_s);
	if (w->hosts.count) {
		strbuf_add(&words, STR("; the newest data is "));
		put_age(&words, newest_age_s(w));
		strbuf_add(&words, STR(" old, and --keep TIME shows more"));
	} else {
		strbuf_add(&words, STR("; sonde fleet status lists what there is"));
	}
	struct error *err =
		error_new(ERROR_INPUT, "%s: %s", store_address_text(w->store), words.data);

	strbuf_deinit(&words);
	return err;
}

static bool has_losses(const struct profile *p)
{
	for (size_t i = 0; i < p->note_count; i++)
		if (note_is_of_loss(&p->notes[i]))
			return true;
	return false;
}

/* What the child wrote after what it saw. */
static struct error *open_recording(
	struct store_watch *w, struct cursor *c, struct session **session)
{
	/* What was sent must not make this machine's files be opened. */
	const struct reader_input input = {.name = store_address_text(w->store),
		.data = c->at,
		.size = cursor_left(c),
		.is_sent = true};
	struct error *err = session_open_bytes(&input, "sonde", session);

	if (err)
		return err;
	w->has_session = true;
	w->has_losses = has_losses(session_profile(*session));
	return NULL;
}

static struct error *read_answer(struct store_watch *w, struct cursor *c, struct session **session)
{
	enum answer_kind kind = (enum answer_kind)cursor_u8(c);
	struct str words = wire_str(c);
	uint64_t mark = cursor_u64(c), silent = cursor_u64(c), hosts = cursor_u64(c);

	/* A folder that is as it was lists none. */
	for (size_t i = 0; i < w->hosts.count && (kind == ANSWER_PROFILE || kind == ANSWER_NOTHING);
		i++)
		w->hosts.data[i].is_shown = false;
	for (uint64_t i = 0; i < hosts && cursor_ok(c); i++) {
		struct str name = wire_str(c);
		uint64_t last_s = cursor_u64(c), end_s = cursor_u64(c);

		if (cursor_ok(c))
			remember_host(w, name, last_s, end_s);
	}
	if (!cursor_ok(c))
		return cursor_error(c);
	if (kind == ANSWER_ERROR)
		return error_new(ERROR_INPUT, "%.*s", STR_ARG(words));
	w->silent_count = silent;
	forget_hosts(w);
	if (kind == ANSWER_NOTHING)
		return nothing_there(w);
	w->mark = mark;
	return kind == ANSWER_PROFILE ? open_recording(w, c, session) : NULL;
}

/* The child has ended. */
static struct error *finish(struct store_watch *w, int status, struct session **session)
{
	struct file_bytes bytes = {0};
	struct cursor c;
	char path[64];
	struct error *err;

	w->pid = 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", w->answer);
	if (status != 0)
		err = error_new(ERROR_SYSTEM, "the process that asked %s has ended early",
			store_address_text(w->store));
	else
		err = file_read(path, 0, &bytes);
	if (err == NULL) {
		cursor_init(&c, bytes.data, bytes.size, store_address_text(w->store), 0);
		err = read_answer(w, &c, session);
	}
	file_bytes_deinit(&bytes);
	end_child(w);
	free(w->problem);
	w->problem = err ? xstrdup(err->message) : NULL;
	return err;
}

struct error *store_watch_take(
	struct store_watch *watch, uint64_t wait_ms, struct session **session)
{
	struct error *err = watch->pid > 0 ? NULL : start(watch);
	int status;

	*session = NULL;
	if (err || !wait_for_child(watch, wait_ms, &status))
		return err;
	return finish(watch, status, session);
}

/* ---- the state ---- */

static void put_count(struct strbuf *out, size_t count, const char *noun)
{
	strbuf_printf(out, "%zu %s%s", count, noun, count == 1 ? "" : "s");
}

const char *store_watch_state(struct store_watch *watch, bool *is_trouble)
{
	struct strbuf *out = &watch->state;
	uint64_t asking_s = (clock_monotonic_ns() - watch->asked_ns) / SECOND_NS;
	size_t shown = shown_hosts(watch), silent = watch->hosts.count - shown;

	strbuf_clear(out);
	put_count(out, shown, "host");
	strbuf_add(out, STR(", newest data "));
	put_age(out, newest_age_s(watch));
	strbuf_add(out, STR(" old"));
	if (silent) {
		strbuf_add(out, STR(", "));
		put_count(out, silent, "host");
		strbuf_add(out, STR(" silent"));
	}
	if (watch->silent_count) {
		strbuf_add(out, STR(", "));
		put_count(out, watch->silent_count, "shard");
		strbuf_add(out, STR(" missing"));
	}
	if (watch->has_losses)
		strbuf_add(out, STR(", losses: see 9"));
	if (watch->pid > 0 && asking_s >= SLOW_S)
		strbuf_printf(out, ", no answer for %" PRIu64 " s", asking_s);
	else if (watch->problem)
		strbuf_printf(out, ", %s", watch->problem);
	*is_trouble = silent || watch->silent_count || watch->problem;
	return out->data;
}
