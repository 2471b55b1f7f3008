/*
 * The agent's parts that need no machine: its folder of segments, its file of options, its metrics,
 * its notes, and when it sends.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/allowance.h"
#include "agent/config.h"
#include "agent/digests.h"
#include "agent/metrics.h"
#include "agent/receiver.h"
#include "agent/rights.h"
#include "agent/sender.h"
#include "agent/segment.h"
#include "agent/shares.h"
#include "agent/spool.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/memory.h"
#include "model/merge.h"
#include "record/file/capture_writer.h"
#include "store/identity.h"
#include "../capture_files.h"
#include "../scratch.h"
#include "../unit.h"

/* ---- notes ---- */

static struct profile *news_profile(const struct segment_news *news)
{
	char *path = capture_file_path("news.prof");
	struct capture_writer *w;

	assert_null(capture_writer_create(path, &w));
	capture_writer_metric(w, 0, STR("cpu-time"), STR("ns"));
	segment_write_news(w, news);
	assert_null(capture_writer_finish(w, NULL));
	struct profile *p = capture_read_file(path);

	unlink(path);
	free(path);
	return p;
}

/* What several segments tell is one note each, with the sum: pauses of any length, losses. */
TEST(test_news_add_up)
{
	const struct segment_news given[] = {
		{.lost = {[LEDGER_PAUSED_NS] = 1500000000, [LEDGER_DROPPED] = 1}},
		{.lost = {[LEDGER_PAUSED_NS] = 1, [LEDGER_BROKEN] = 2}},
		{.halvings = 0},
		{.lost = {[LEDGER_PAUSED_NS] = 12000000,
			 [LEDGER_DROPPED] = 4,
			 [LEDGER_BROKEN] = 1}},
	};
	static const char *const texts[] = {"milliseconds were not sampled: ",
		"older segments were dropped", "processes of earlier segments"};
	const uint64_t sums[] = {1513, 5, 3};
	struct profile *parts[ARRAY_SIZE(given)], *sum = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		parts[i] = news_profile(&given[i]);
	assert_int_equal(parts[2]->note_count, 0);
	assert_null(profile_merge((const struct profile *const *)parts, ARRAY_SIZE(given), &sum));
	assert_int_equal(sum->note_count, ARRAY_SIZE(texts));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const struct note *n = sum->notes;

		while (!str_starts_with(profile_string(sum, n->text), str_from(texts[i])))
			assert_true(++n < sum->notes + sum->note_count);
		assert_int_equal(n->kind, NOTE_LOST);
		assert_int_equal(n->count, sums[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		profile_destroy(parts[i]);
	profile_destroy(sum);
}

/* ---- the folder ---- */

static void put_file(const char *path, size_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	for (size_t i = 0; i < size; i++)
		fputc('x', f);
	fclose(f);
}

static void put_segment(struct spool *s, uint64_t second, size_t size)
{
	char *name = spool_new_name(s, second * SECOND_NS), *path = spool_temporary_path(s, name);

	put_file(path, size);
	assert_null(spool_take(s, name));
	free(name);
	free(path);
}

TEST(test_spool_drops_the_oldest)
{
	char *folder = scratch_create();
	struct spool s;

	assert_null(spool_open(&s, folder));
	for (uint64_t i = 0; i < 10; i++)
		put_segment(&s, 1000 + i, 100);
	spool_limit(&s, 350, INT64_MIN);
	assert_int_equal(s.entries.count, 3);
	assert_int_equal(s.bytes, 300);
	assert_int_equal(s.ledger.state.total[LEDGER_DROPPED], 7);
	assert_int_equal(s.ledger.state.total[LEDGER_DROPPED_BYTES], 700);
	assert_string_equal(s.entries.data[0].name, "19700101T001647Z-000007.prof");
	/* The newest stays, however large. */
	spool_limit(&s, 10, INT64_MIN);
	assert_int_equal(s.entries.count, 1);
	put_segment(&s, 2000, 5);
	spool_limit(&s, 1000, INT64_MAX);
	assert_int_equal(s.entries.count, 1);
	assert_string_equal(s.entries.data[0].name, "19700101T003320Z-000010.prof");
	/* What is being sent stays as well. */
	for (uint64_t i = 0; i < 3; i++)
		put_segment(&s, 3000 + i, 100);
	s.under_way = s.entries.data[1].name;
	spool_limit(&s, 200, INT64_MIN);
	assert_int_equal(s.entries.count, 2);
	assert_int_equal(s.entries.data[0].number, 11);
	assert_int_equal(s.entries.data[1].number, 13);
	spool_limit(&s, 10, INT64_MIN);
	assert_int_equal(s.entries.count, 2);
	assert_int_equal(s.ledger.state.total[LEDGER_DROPPED], 12);
	spool_close(&s);
	scratch_destroy(folder);
}

/* A clock that is set back does not make a new segment the oldest, nor after a restart. */
TEST(test_spool_keeps_order)
{
	static const uint64_t times_s[] = {1000, 90000, 500, 501, 1001};
	char *folder = scratch_create();
	struct spool s;

	assert_null(spool_open(&s, folder));
	for (size_t i = 0; i < ARRAY_SIZE(times_s); i++)
		put_segment(&s, times_s[i], 100);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(s.entries.count, ARRAY_SIZE(times_s));
		for (size_t i = 0; i < s.entries.count; i++)
			assert_int_equal(s.entries.data[i].number, i);
		spool_close(&s);
		assert_null(spool_open(&s, folder));
	}
	spool_limit(&s, 200, INT64_MIN);
	assert_string_equal(s.entries.data[0].name, "19700101T000821Z-000003.prof");
	assert_string_equal(s.entries.data[1].name, "19700101T001641Z-000004.prof");
	spool_close(&s);
	scratch_destroy(folder);
}

TEST(test_spool_is_found_again)
{
	char *folder = scratch_create(), path[128];
	struct spool s, other;

	assert_null(spool_open(&s, folder));
	put_segment(&s, 5, 10);
	put_segment(&s, 6, 20);
	snprintf(path, sizeof(path), "%s/.tmp/left", folder);
	put_file(path, 3);
	snprintf(path, sizeof(path), "%s/notes.prof", folder);
	put_file(path, 3);
	struct error *err = spool_open(&other, folder);

	assert_non_null(err);
	assert_non_null(strstr(err->message, "another agent"));
	error_destroy(err);
	spool_close(&s);
	assert_null(spool_open(&s, folder));
	assert_int_equal(s.removed_temporary, 1);
	assert_int_equal(s.entries.count, 2);
	assert_int_equal(s.bytes, 30);
	assert_int_equal(s.next, 2);
	/* A file that somebody removed is no error. */
	snprintf(path, sizeof(path), "%s/%s", folder, s.entries.data[0].name);
	assert_int_equal(unlink(path), 0);
	assert_null(spool_remove(&s, 0));
	assert_int_equal(s.bytes, 20);
	spool_close(&s);
	scratch_destroy(folder);
}

/* ---- sending ---- */

static void quiet(const char *line)
{
	(void)line;
}

static void run_sender(struct sender *s, struct spool *spool, uint64_t now_ns)
{
	int status;

	sender_look(s, spool, now_ns, (uint64_t)64 << 20);
	assert_true(s->child > 0);
	assert_int_equal(waitpid(s->child, &status, 0), s->child);
	sender_ended(s, spool, status, now_ns);
}

TEST(test_sender)
{
	char *folder = scratch_create(), from[128], to[128], file[256];
	struct sender s;
	struct spool spool;
	struct stat st;

	snprintf(from, sizeof(from), "%s/from", folder);
	snprintf(to, sizeof(to), "%s/to", folder);
	assert_null(spool_open(&spool, from));
	put_segment(&spool, 5, 100);
	put_segment(&spool, 6, 200);
	sender_init(
		&s, &(struct sender_target){.store = to, .spool = from, .host = "host"}, 0, quiet);
	/* The store is not there: the segment stays, and the next try waits. */
	run_sender(&s, &spool, SECOND_NS);
	assert_int_equal(s.errors, 1);
	assert_int_equal(spool.entries.count, 2);
	assert_true(s.next_ns > SECOND_NS);
	sender_look(&s, &spool, SECOND_NS, (uint64_t)64 << 20);
	assert_int_equal(s.child, 0);
	assert_int_equal(mkdir(to, 0700), 0);
	run_sender(&s, &spool, s.next_ns);
	run_sender(&s, &spool, s.next_ns);
	assert_int_equal(spool.entries.count, 0);
	assert_int_equal(s.sent, 2);
	assert_int_equal(s.sent_bytes, 300);
	snprintf(file, sizeof(file), "%s/19700101T000006Z-000001-%016llx.prof", to,
		(unsigned long long)identity_bytes(STR("host")));
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_size, 200);
	sender_deinit(&s);
	spool_close(&spool);
	scratch_destroy(folder);
}

enum { ENDS_SENT = 0, ENDS_LATER = 1 << 8, ENDS_UNREADABLE = 2 << 8, ENDS_LEFT = 3 << 8 };

/* The segment that is sent next, as if its process ended so and had named that shard; "": none. */
static const char *send_as(
	struct sender *s, struct spool *spool, uint64_t now_ns, const char *shard, int status)
{
	static char name[64];

	sender_look(s, spool, now_ns, (uint64_t)64 << 20);
	if (s->child == 0)
		return "";
	kill(s->child, SIGKILL);
	assert_int_equal(waitpid(s->child, NULL, 0), s->child);
	snprintf(name, sizeof(name), "%s", s->name);
	snprintf(s->queues.report->place, sizeof(s->queues.report->place), "%s", shard);
	sender_ended(s, spool, status, now_ns);
	return name + strlen("19700101T000005Z-");
}

static void put_received(struct spool *s, char digit)
{
	char digest[17], *name, *path;

	memset(digest, digit, 16);
	name = spool_received_name(s, 5 * SECOND_NS, (struct str){digest, 16});
	path = spool_temporary_path(s, name);
	put_file(path, 10);
	assert_null(spool_take(s, name));
	free(path);
	free(name);
}

/* A shard is dead: its segments wait, the oldest of the others go on, and it recovers. */
TEST(test_dead_shard_stops_no_other)
{
	char *folder = scratch_create();
	struct sender s;
	struct spool spool;
	struct agent_metrics m = {.sender = &s, .spool = &spool};
	struct strbuf out = {0};
	uint64_t now_ns = SECOND_NS;

	assert_null(spool_open(&spool, folder));
	sender_init(&s, &(struct sender_target){.store = "/nowhere", .host = "host"}, 0, quiet);
	put_segment(&spool, 5, 10);
	put_received(&spool, 'a');
	put_received(&spool, 'b');
	put_received(&spool, 'c');
	put_segment(&spool, 5, 10);
	assert_string_equal(send_as(&s, &spool, now_ns, "dead", ENDS_LATER), "000000.prof");
	/* Those of the dead shard are looked at once; it is not asked. */
	assert_string_equal(
		send_as(&s, &spool, now_ns, "dead", ENDS_LEFT), "000001-aaaaaaaaaaaaaaaa.prof");
	assert_string_equal(
		send_as(&s, &spool, now_ns, "well", ENDS_SENT), "000002-bbbbbbbbbbbbbbbb.prof");
	assert_string_equal(
		send_as(&s, &spool, now_ns, "\"", ENDS_SENT), "000003-cccccccccccccccc.prof");
	/* The agent's own go where the first went. */
	assert_string_equal(send_as(&s, &spool, now_ns, "", 0), "");
	assert_int_equal(s.errors, 1);
	assert_int_equal(s.next_ns, 0);
	agent_metrics_put(&m, &out);
	strbuf_add_char(&out, '\0');
	assert_non_null(strstr(out.data, "\nsonde_agent_shard_segments{shard=\"dead\"} 3\n"));
	assert_non_null(strstr(out.data, "\nsonde_agent_shard_bytes{shard=\"dead\"} 30\n"));
	assert_non_null(strstr(out.data, "\nsonde_agent_shard_failures{shard=\"dead\"} 1\n"));
	assert_non_null(strstr(out.data, "\nsonde_agent_shard_failures{shard=\"well\"} 0\n"));
	assert_non_null(strstr(out.data, "\nsonde_agent_shard_errors_total{shard=\"\\\"\"} 0\n"));
	strbuf_deinit(&out);
	/* It is tried when nothing else waits, each time later. */
	now_ns = s.queues.list.data[0].next_ns;
	put_received(&spool, 'd');
	assert_string_equal(
		send_as(&s, &spool, now_ns, "well", ENDS_SENT), "000005-dddddddddddddddd.prof");
	assert_string_equal(send_as(&s, &spool, now_ns, "dead", SIGALRM), "000000.prof");
	assert_int_equal(s.queues.list.data[0].failures, 2);
	assert_true(s.queues.list.data[0].next_ns >= now_ns + SECOND_NS);
	assert_string_equal(send_as(&s, &spool, now_ns, "", 0), "");
	now_ns = s.queues.list.data[0].next_ns;
	assert_string_equal(send_as(&s, &spool, now_ns, "dead", ENDS_SENT), "000000.prof");
	assert_string_equal(
		send_as(&s, &spool, now_ns, "dead", ENDS_SENT), "000001-aaaaaaaaaaaaaaaa.prof");
	assert_string_equal(send_as(&s, &spool, now_ns, "dead", ENDS_SENT), "000004.prof");
	assert_int_equal(spool.entries.count, 0);
	/* With another name of the host, the agent's own may go elsewhere. */
	s.queues.list.data[0].failures = 1;
	s.queues.list.data[0].next_ns = UINT64_MAX;
	put_segment(&spool, 5, 10);
	assert_string_equal(send_as(&s, &spool, now_ns, "", 0), "");
	sender_set_target(&s, &(struct sender_target){.store = "/nowhere", .host = "other"});
	assert_string_equal(send_as(&s, &spool, now_ns, "well", ENDS_SENT), "000006.prof");
	sender_deinit(&s);
	spool_close(&spool);
	scratch_destroy(folder);
}

/* What never can be sent is lost, and counted as such. */
TEST(test_unreadable_segments_are_dropped)
{
	char *folder = scratch_create();
	struct sender s;
	struct spool spool;

	assert_null(spool_open(&spool, folder));
	sender_init(&s, &(struct sender_target){.store = "/nowhere", .host = "host"}, 0, quiet);
	put_segment(&spool, 5, 10);
	assert_string_equal(send_as(&s, &spool, SECOND_NS, "", ENDS_UNREADABLE), "000000.prof");
	assert_int_equal(spool.entries.count, 0);
	assert_int_equal(spool.ledger.state.total[LEDGER_DROPPED], 1);
	assert_int_equal(spool.ledger.state.total[LEDGER_DROPPED_BYTES], 10);
	assert_int_equal(s.sent, 0);
	sender_deinit(&s);
	spool_close(&spool);
	scratch_destroy(folder);
}

/* What stays in the spool, although it was sent, is not sent again at once. */
TEST(test_sent_segment_cannot_be_removed)
{
	char *folder = scratch_create(), path[128];
	struct sender s;
	struct spool spool;

	assert_null(spool_open(&spool, folder));
	put_segment(&spool, 5, 100);
	sender_init(&s, &(struct sender_target){.store = folder, .spool = folder, .host = "host"},
		0, quiet);
	s.name = strdup(spool.entries.data[0].name);
	/* A folder is not removed by unlink, even for root. */
	snprintf(path, sizeof(path), "%s/%s", folder, s.name);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	sender_ended(&s, &spool, 0, SECOND_NS);
	assert_int_equal(s.sent, 1);
	assert_true(s.next_ns > SECOND_NS);
	sender_deinit(&s);
	spool_close(&spool);
	scratch_destroy(folder);
}

/* A segment that cannot be opened for now is kept; one that is not a recording is not. */
TEST(test_unreadable_segments)
{
	char *folder = scratch_create(), path[128];
	const struct sender_target target = {
		.store = "clickhouse://127.0.0.1:1", .spool = folder, .host = "host"};
	struct rlimit before, none;
	bool is_unreadable;

	snprintf(path, sizeof(path), "%s/19700101T000006Z-000001.prof", folder);
	put_file(path, 100);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){0, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	struct error *err = sender_push(&target, path, &is_unreadable);

	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_non_null(err);
	assert_false(is_unreadable);
	error_destroy(err);
	err = sender_push(&target, path, &is_unreadable);
	assert_non_null(err);
	assert_true(is_unreadable);
	error_destroy(err);
	scratch_destroy(folder);
}

static char said[256];

static void keep_line(const char *line)
{
	snprintf(said, sizeof(said), "%s", line);
}

TEST(test_killed_senders_are_reported)
{
	char *folder = scratch_create();
	struct sender s;
	struct spool spool;

	assert_null(spool_open(&spool, folder));
	sender_init(&s, &(struct sender_target){.store = folder, .spool = folder, .host = "host"},
		0, keep_line);
	sender_ended(&s, &spool, SIGALRM, SECOND_NS);
	assert_non_null(strstr(said, "took longer than 300 s"));
	sender_ended(&s, &spool, SIGSEGV, SECOND_NS);
	assert_non_null(strstr(said, "killed by signal 11"));
	assert_int_equal(s.errors, 2);
	sender_deinit(&s);
	spool_close(&spool);
	scratch_destroy(folder);
}

/* How a child ends that takes so much with a limit of 8 MiB more than it has. */
static int status_with_limit(size_t take_bytes)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (!freopen("/dev/null", "w", stderr) ||
			!memory_limit(0, memory_of(getpid()).mapped_bytes + ((uint64_t)8 << 20)))
			_exit(1);
		free(xalloc(take_bytes));
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

TEST(test_memory_is_refused)
{
	struct memory_use before = memory_of(getpid());
	void *volatile more = xalloc((size_t)32 << 20);
	struct memory_use after = memory_of(getpid());

	free(more);
#ifdef __SANITIZE_ADDRESS__
	skip(); /* nothing is limited then */
#endif
	assert_true(after.mapped_bytes >= before.mapped_bytes + ((uint64_t)32 << 20));
	assert_int_equal(memory_most((struct memory_use){5, 3}, 10), 12);
	assert_int_equal(memory_most((struct memory_use){3, 5}, 0), 5);
	assert_int_equal(status_with_limit((size_t)4 << 20), 0);
	assert_true(memory_was_refused(status_with_limit((size_t)16 << 20)));
}

static uint64_t random_bytes(uint64_t *state, uint64_t most)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (*state >> 33) % (most + 1);
}

/* Whatever processes have, what they have and may take is no more than the limit. */
TEST(test_shares_keep_the_limit)
{
	uint64_t seed = 1;

	for (int round = 0; round < 20000; round++) {
		const uint64_t most =
			((uint64_t)24 << 20) + random_bytes(&seed, (uint64_t)200 << 20);
		size_t samplers = 1 + random_bytes(&seed, 1);
		struct shares s = {0};

		shares_learn(&s, random_bytes(&seed, (uint64_t)40 << 20));
		shares_begin(&s, most);
		shares_add(&s, (struct memory_use){3 << 20, 1 << 20}, 0);
		for (size_t i = 0; i < samplers; i++)
			shares_add_sampler(
				&s, (struct memory_use){random_bytes(&seed, (uint64_t)20 << 20),
					    random_bytes(&seed, (uint64_t)20 << 20)});
		shares_add(&s, (struct memory_use){8 << 20, 8 << 20},
			random_bytes(&seed, (uint64_t)20 << 20));
		shares_add_rings(&s, random_bytes(&seed, (uint64_t)4 << 20));
		shares_end(&s, false);
		uint64_t given = s.taken_bytes > most ? most : s.taken_bytes;

		if (random_bytes(&seed, 1))
			given += shares_take_for_names(&s, random_bytes(&seed, 1));
		else if (shares_have_room(&s))
			given += shares_take_for_next(&s, false);
		given += samplers * shares_of_sampler(&s);
		assert_true(given <= most);
	}
}

/* The default limit of a machine with two CPUs, and a segment as on one that compiles. */
static void add_segment_of(struct shares *s, uint64_t mib)
{
	const struct memory_use use = {mib << 20, mib << 20};

	shares_begin(s, allowance_memory_bytes(2));
	shares_add(s, (struct memory_use){3 << 20, 3 << 20}, 0);
	shares_add_sampler(s, use);
}

TEST(test_shares_of_names)
{
	const struct memory_use waits = {20 << 20, 20 << 20};
	struct shares s = {0};

	add_segment_of(&s, 20);
	shares_add(&s, waits, 0);
	shares_end(&s, false);
	/* Beside what is kept for a segment that soon begins, there is not enough. */
	assert_int_equal(shares_take_for_names(&s, false), 0);
	uint64_t bytes = shares_take_for_names(&s, true);

	assert_true(bytes >= (uint64_t)8 << 20);
	assert_true(s.lent_bytes > 0 && shares_of_sampler(&s) >= (uint64_t)4 << 20);
	/* While names have it, samples still get theirs. */
	add_segment_of(&s, 20);
	shares_add(&s, waits, (20 << 20) + bytes);
	shares_end(&s, true);
	assert_false(shares_are_tight(&s));
	assert_false(shares_have_room(&s));
	/* Then it is kept again. */
	add_segment_of(&s, 20);
	shares_end(&s, false);
	assert_int_equal(s.lent_bytes, 0);
	assert_true(shares_have_room(&s));
}

TEST(test_shares_of_segments)
{
	struct shares s = {0};

	add_segment_of(&s, 20);
	shares_end(&s, false);
	assert_true(shares_have_room(&s));
	uint64_t before = shares_of_sampler(&s), next = shares_take_for_next(&s, false);

	assert_true(next >= (uint64_t)25 << 20 && shares_of_sampler(&s) < before);
	/* Two of these do not fit; a single one begins anyway. */
	add_segment_of(&s, 36);
	shares_end(&s, false);
	assert_false(shares_have_room(&s));
	shares_begin(&s, 100 << 10);
	shares_end(&s, false);
	assert_int_equal(shares_take_for_next(&s, true), (uint64_t)8 << 20);
	/* One that was refused memory needs more than it had. */
	shares_learn(&s, 0);
	shares_learn_refusal(&s, (uint64_t)60 << 20);
	shares_begin(&s, allowance_memory_bytes(2));
	shares_end(&s, false);
	assert_false(shares_have_room(&s));
	/* It may have grown to the last byte. */
	add_segment_of(&s, 63);
	shares_end(&s, false);
	assert_true(shares_are_tight(&s));
}

/* A segment for which memory is refused may take more the next time, and is dropped in the end. */
TEST(test_refused_memory_drops)
{
	const int refused = ALLOC_EXIT_STATUS << 8;
	char *folder = scratch_create();
	struct sender s;
	struct spool spool;

	assert_null(spool_open(&spool, folder));
	put_segment(&spool, 5, 100);
	sender_init(&s, &(struct sender_target){.store = folder, .spool = folder, .host = "host"},
		0, keep_line);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(spool.ledger.state.total[LEDGER_DROPPED], 0);
		/* So much is not free. */
		sender_look(&s, &spool, s.next_ns, ((uint64_t)8 << (20 + i)) - 1);
		assert_int_equal(s.child, 0);
		s.name = xstrdup(spool.entries.data[0].name);
		sender_ended(&s, &spool, refused, SECOND_NS);
	}
	assert_non_null(strstr(said, "a segment is dropped"));
	assert_int_equal(spool.ledger.state.total[LEDGER_DROPPED], 1);
	assert_int_equal(spool.ledger.state.total[LEDGER_DROPPED_BYTES], 100);
	assert_int_equal(spool.entries.count, 0);
	sender_deinit(&s);
	spool_close(&spool);
	scratch_destroy(folder);
}

/* Two hosts begin a segment in the same second and send it to a folder that they share. */
TEST(test_hosts_share_a_folder)
{
	char *folder = scratch_create(), path[2][128], command[256];
	struct sender_target targets[] = {
		{.store = folder, .host = "web1"}, {.store = folder, .host = "../web2"}};
	bool is_unreadable;

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%zu", folder, i);
		assert_int_equal(mkdir(path[i], 0700), 0);
		strcat(path[i], "/19700101T000006Z-000001.prof");
		put_file(path[i], 100 + i);
		for (int twice = 0; twice < 2; twice++)
			assert_null(sender_push(&targets[i], path[i], &is_unreadable));
	}
	snprintf(command, sizeof(command),
		"cd %s && test $(stat -c %%s *.prof | sort | tr '\\n' ,) = 100,101,", folder);
	assert_int_equal(system(command), 0);
	scratch_destroy(folder);
}

/* A received segment is known by its digest: in the spool, if found again, and in a folder. */
TEST(test_received_segments_have_one_name)
{
	char *folder = scratch_create(), store[128], command[256];
	const struct str digest = STR("0123456789abcdef");
	struct spool spool;
	bool is_unreadable;

	snprintf(store, sizeof(store), "%s/store", folder);
	assert_int_equal(mkdir(store, 0700), 0);
	for (int round = 0; round < 2; round++) {
		struct sender_target target = {.store = store, .host = round ? "web1" : "web2"};

		assert_null(spool_open(&spool, folder));
		char *name = spool_received_name(&spool, 7 * SECOND_NS, digest);
		char *other = spool_received_name(&spool, 7 * SECOND_NS, STR("1123456789abcdef"));
		char *later = spool_received_name(&spool, 8 * SECOND_NS, digest);
		char *own = spool_new_name(&spool, 7 * SECOND_NS);
		char *path = spool_temporary_path(&spool, name), *taken = spool_path(&spool, name);

		assert_true(spool_has_received(&spool, name) == (round > 0));
		put_file(path, 10);
		assert_null(spool_take(&spool, name));
		assert_true(spool_has_received(&spool, name));
		assert_false(spool_has_received(&spool, other));
		assert_false(spool_has_received(&spool, later));
		assert_false(spool_has_received(&spool, own));
		assert_null(sender_push(&target, taken, &is_unreadable));
		free(name);
		free(other);
		free(later);
		free(own);
		free(path);
		free(taken);
		spool_close(&spool);
	}
	snprintf(command, sizeof(command), "test $(ls %s) = 19700101T000007Z-0123456789abcdef.prof",
		store);
	assert_int_equal(system(command), 0);
	scratch_destroy(folder);
}

/* Digests keep their time as long as the spool keeps segments, also in the next process. */
TEST(test_digests)
{
	char *folder = scratch_create(), path[128];
	struct digests d;
	struct stat st;

	snprintf(path, sizeof(path), "%s/digests", folder);
	digests_open(&d, path, 100);
	assert_int_equal(digests_time(&d, 1, 1000), 1000);
	assert_int_equal(digests_time(&d, 2, 1050), 1050);
	assert_int_equal(digests_time(&d, 1, 1100), 1000);
	digests_close(&d);
	digests_open(&d, path, 100);
	assert_int_equal(digests_time(&d, 1, 1100), 1000);
	assert_int_equal(digests_time(&d, 1, 1101), 1101);
	assert_int_equal(digests_time(&d, 2, 1101), 1050);
	digests_close(&d);
	/* A process was killed while it wrote. */
	assert_int_equal(truncate(path, 12 * 2 + 5), 0);
	digests_open(&d, path, 0);
	assert_int_equal(digests_time(&d, 2, 4000000000), 1050);
	for (uint32_t i = 0; i < 3 * DIGESTS_MAX; i++)
		assert_int_equal(digests_time(&d, 100 + i, 2000 + i), 2000 + i);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size <= 2 * DIGESTS_MAX * 12);
	assert_int_equal(d.time_of.count, DIGESTS_MAX);
	digests_close(&d);
	digests_open(&d, path, 0);
	assert_int_equal(digests_time(&d, 100 + 2 * DIGESTS_MAX, 9), 2000 + 2 * DIGESTS_MAX);
	assert_int_equal(digests_time(&d, 99 + 2 * DIGESTS_MAX, 9), 9);
	digests_close(&d);
	scratch_destroy(folder);
}

/* A new segment waits for the host's part of the interval. */
TEST(test_hosts_take_turns)
{
	static const char *const hosts[] = {"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"};
	char *folder = scratch_create();
	bool is_early = false, is_late = false;
	struct sender s;
	struct spool spool;

	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++) {
		sender_init(&s,
			&(struct sender_target){.store = folder, .spool = folder, .host = hosts[i]},
			60 * SECOND_NS, quiet);
		assert_true(s.phase_ns < 60 * SECOND_NS);
		is_early |= s.phase_ns < 30 * SECOND_NS;
		is_late |= s.phase_ns >= 30 * SECOND_NS;
	}
	assert_true(is_early && is_late);
	assert_null(spool_open(&spool, folder));
	put_segment(&spool, 5, 100);
	s.phase_ns = 3600 * SECOND_NS;
	sender_look(&s, &spool, SECOND_NS, (uint64_t)64 << 20);
	assert_int_equal(s.child, 0);
	spool_close(&spool);
	scratch_destroy(folder);
}

TEST(test_back_off)
{
	assert_int_equal(sender_back_off_ns(1, 0), SECOND_NS / 2);
	assert_int_equal(sender_back_off_ns(1, 1), SECOND_NS);
	assert_int_equal(sender_back_off_ns(4, 1), 8 * SECOND_NS);
	assert_int_equal(sender_back_off_ns(4, 0), 4 * SECOND_NS);
	assert_int_equal(sender_back_off_ns(1000, 1), 300 * SECOND_NS);
}

TEST(test_addresses_of_stores)
{
	struct error *err = sender_check("/srv/profiles");

	assert_null(err);
	assert_null(sender_check("clickhouse://db1,db2:8123/sonde"));
	err = sender_check("gopher://host/");
	assert_non_null(err);
	assert_non_null(
		strstr(err->message, "'gopher://host/': expected a folder or clickhouse://HOST"));
	error_destroy(err);
}

/* ---- receiving ---- */

/* Its process may outlive an agent that was killed, and must not keep the next one out. */
/* ---- folders and rights ---- */

/* The path belongs to the one who calls. */
static char *path_in(const char *folder, const char *name)
{
	return xasprintf("%s/%s", folder, name);
}

static void put_empty(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static void expect_refused(const char *folder, const char *word)
{
	struct spool spool;
	struct error *err = spool_open(&spool, folder);

	assert_non_null(err);
	assert_non_null(strstr(err->message, folder));
	assert_non_null(strstr(err->message, word));
	error_destroy(err);
}

TEST(test_spool_is_an_own_folder)
{
	char *above = scratch_create(), *folder = path_in(above, "spool"),
	     *other = path_in(above, "other"), *precious = path_in(other, "precious"),
	     *temporary = path_in(folder, ".tmp"), *link = path_in(above, "link");
	struct spool spool;

	assert_int_equal(mkdir(other, 0700), 0);
	put_empty(precious);
	assert_int_equal(mkdir(folder, 0700), 0);
	/* What its folder for drafts points to is not emptied. */
	assert_int_equal(symlink(other, temporary), 0);
	expect_refused(folder, "cannot open the folder");
	assert_int_equal(access(precious, F_OK), 0);
	assert_int_equal(unlink(temporary), 0);
	assert_int_equal(chmod(folder, 0702), 0);
	expect_refused(folder, "others may write");
	assert_int_equal(chmod(folder, 0720), 0);
	expect_refused(folder, "others may write");
	assert_int_equal(chmod(folder, 0700), 0);
	/* A link of one's own is fine, as systemd makes one. */
	assert_int_equal(symlink("spool", link), 0);
	assert_null(spool_open(&spool, link));
	spool_close(&spool);
	if (geteuid() == 0) {
		/* Whoever owns a link chooses what is behind it. */
		assert_int_equal(lchown(link, 65534, (gid_t)-1), 0);
		expect_refused(link, "is not safe");
		assert_int_equal(chown(folder, 65534, (gid_t)-1), 0);
		expect_refused(folder, "belongs to user 65534");
	}
	free(link);
	free(temporary);
	free(precious);
	free(other);
	free(folder);
	scratch_destroy(above);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	return st.st_mode & 07777;
}

TEST(test_segments_in_a_store_are_their_owners)
{
	static const struct {
		mode_t folder, file;
	} rows[] = {{0755, 0600}, {0777, 0600}, {02750, 0640}};
	char *from = scratch_create(), *store = path_in(from, "store"), path[128], sent[256];
	const struct sender_target target = {.store = store, .spool = from, .host = "host"};
	bool is_unreadable;

	snprintf(path, sizeof(path), "%s/19700101T000006Z-000001.prof", from);
	put_file(path, 100);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(mkdir(store, 0755), 0);
	snprintf(sent, sizeof(sent), "%s/19700101T000006Z-000001-%016llx.prof", store,
		(unsigned long long)identity_bytes(STR("host")));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(chmod(store, rows[i].folder), 0);
		/* A link in its place is replaced, and not written to. */
		(void)unlink(sent);
		assert_int_equal(symlink(path, sent), 0);
		assert_null(sender_push(&target, path, &is_unreadable));
		assert_int_equal(mode_of(sent), rows[i].file);
	}
	free(store);
	scratch_destroy(from);
}

/* How many of the acts of a confined process did not end as they should; -1: it is not confined. */
static int acts_of_confined(int64_t group, int folder, const char *outside)
{
	/* By Landlock, or as another user. */
	bool is_fenced = syscall(444, NULL, 0, 1) > 0 || group >= 0;
	char *const argv[] = {"true", NULL};
	char seccomp[4096] = "";
	int wrong = 0;

	struct error *err = rights_confine(group, folder);

	if (err)
		return -1;
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

	wrong += fd < 0 || read(fd, seccomp, sizeof(seccomp) - 1) <= 0 ||
		 !strstr(seccomp, "CapEff:\t0000000000000000\n") ||
		 !strstr(seccomp, "CapPrm:\t0000000000000000\n") ||
		 !strstr(seccomp, "NoNewPrivs:\t1\n") || !strstr(seccomp, "Seccomp:\t2\n");
	wrong += group >= 0 && geteuid() == 0;
	wrong += execv("/bin/true", argv) == 0 || errno != EPERM;
	wrong += unshare(CLONE_NEWUSER) == 0 || errno != EPERM;
	wrong += setuid(0) == 0 || errno != EPERM;
	wrong += open(outside, O_WRONLY | O_CLOEXEC) >= 0 && is_fenced;
	fd = open("inside", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	wrong += fd < 0 || rename("inside", "renamed") != 0 || unlink("renamed") != 0;
	return wrong;
}

TEST(test_confined_processes_can_do_little)
{
	char *folder = scratch_create(), *outside = path_in(folder, "outside");
	int64_t group = rights_other_group();
	struct spool spool;
	int in = -1, status;

	put_empty(outside);
	assert_int_equal(chmod(folder, 0700), 0);
	assert_null(spool_open(&spool, folder));
	assert_null(spool_part(&spool, ".in", group, &in));
	/* As another user, where we may, and as the same. */
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(acts_of_confined(i ? -1 : group, in, outside));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
	close(in);
	spool_close(&spool);
	free(outside);
	scratch_destroy(folder);
}

TEST(test_receiver_leaves_the_lock)
{
	char *folder = scratch_create(), address[128], draft[128];
	struct receiver r;
	struct spool spool;
	struct stat st;

	snprintf(address, sizeof(address), "%s/socket", folder);
	snprintf(draft, sizeof(draft), "%s/.in", folder);
	assert_int_equal(mkdir(draft, 0700), 0);
	strcat(draft, "/19700101T000006Z-0123456789abcdef.prof.new");
	put_file(draft, 10);
	assert_null(spool_open(&spool, folder));
	assert_null(receiver_open(&r, &spool));
	struct error *err = receiver_start(
		&r, &(struct receiver_options){.address = address, .say = keep_line}, &spool);

	if (err && strstr(said, "libmicrohttpd")) {
		error_destroy(err);
		receiver_stop(&r, &spool);
		spool_close(&spool);
		scratch_destroy(folder);
		skip();
	}
	assert_null(err);
	assert_int_equal(stat(draft, &st), -1);
	spool_close(&spool);
	assert_null(spool_open(&spool, folder));
	receiver_stop(&r, &spool);
	spool_close(&spool);
	scratch_destroy(folder);
}

/* ---- the file of options ---- */

static struct error *take_option(void *context, const char *name, const char *value)
{
	struct strbuf *out = context;

	if (strcmp(name, "wrong") == 0)
		return error_new(ERROR_USAGE, "is wrong");
	strbuf_printf(out, "%s:%s;", name, value ? value : "-");
	return NULL;
}

TEST(test_config)
{
	static const struct {
		const char *text, *taken, *problem;
	} rows[] = {
		{"# a comment\n\n every = 10s \nstore=/a b\nno-symbols\n",
			"every:10s;store:/a b;no-symbols:-;", NULL},
		{"a = b = c", "a:b = c;", NULL},
		{"a =", "a:;", NULL},
		{"", "", NULL},
		{"a = 1\nwrong = 2\nb = 3\n", "a:1;", ": line 2: is wrong"},
		{"\n= 2\n", "", ": line 2: expected a name"},
	};
	char *folder = scratch_create(), path[128];

	snprintf(path, sizeof(path), "%s/agent.conf", folder);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf out = {0};
		FILE *f = fopen(path, "w");

		fputs(rows[i].text, f);
		fclose(f);
		struct error *err = config_read(path, take_option, &out);

		assert_true(str_equal(strbuf_str(&out), str_from(rows[i].taken)));
		assert_true((err != NULL) == (rows[i].problem != NULL));
		if (err)
			assert_non_null(strstr(err->message, rows[i].problem));
		error_destroy(err);
		strbuf_deinit(&out);
	}
	scratch_destroy(folder);
}

/* ---- metrics ---- */

TEST(test_metrics)
{
	struct agent_metrics m = {
		.samples = 12, .gone[LEDGER_PAUSED_NS] = 1500000000, .is_paused = true};
	struct strbuf out = {0};

	agent_metrics_put(&m, &out);
	strbuf_add_char(&out, '\0');
	assert_non_null(strstr(out.data, "# TYPE sonde_agent_samples_total counter\n"
					 "sonde_agent_samples_total 12\n"));
	assert_non_null(
		strstr(out.data, "# TYPE sonde_agent_paused gauge\nsonde_agent_paused 1\n"));
	assert_non_null(strstr(out.data, "\nsonde_agent_paused_seconds_total 1.5\n"));
	strbuf_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_news_add_up),
		cmocka_unit_test(test_spool_drops_the_oldest),
		cmocka_unit_test(test_spool_keeps_order),
		cmocka_unit_test(test_spool_is_found_again),
		cmocka_unit_test(test_sender),
		cmocka_unit_test(test_dead_shard_stops_no_other),
		cmocka_unit_test(test_unreadable_segments_are_dropped),
		cmocka_unit_test(test_sent_segment_cannot_be_removed),
		cmocka_unit_test(test_unreadable_segments),
		cmocka_unit_test(test_killed_senders_are_reported),
		cmocka_unit_test(test_memory_is_refused),
		cmocka_unit_test(test_shares_keep_the_limit),
		cmocka_unit_test(test_shares_of_names),
		cmocka_unit_test(test_shares_of_segments),
		cmocka_unit_test(test_refused_memory_drops),
		cmocka_unit_test(test_hosts_share_a_folder),
		cmocka_unit_test(test_received_segments_have_one_name),
		cmocka_unit_test(test_digests),
		cmocka_unit_test(test_hosts_take_turns),
		cmocka_unit_test(test_back_off),
		cmocka_unit_test(test_addresses_of_stores),
		cmocka_unit_test(test_spool_is_an_own_folder),
		cmocka_unit_test(test_segments_in_a_store_are_their_owners),
		cmocka_unit_test(test_confined_processes_can_do_little),
		cmocka_unit_test(test_receiver_leaves_the_lock),
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_metrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
