/*
 * A recording is read up to its last whole chunk, so a draft needs no repair.  A process of its own
 * reads it (base/limited_child.h), as all memory of the reader goes with it.
 *
 * Each step leaves a state that the next start understands: a draft that is in .tmp is read again,
 * and one that was moved is in the list of whole segments.
 */
#include "agent/salvage.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/rights.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/limited_child.h"
#include "formats/readers.h"

#define READ_SECONDS_MAX 60

enum draft_state { DRAFT_UNKNOWN, DRAFT_EMPTY, DRAFT_UNREADABLE, DRAFT_CUT, DRAFT_WHOLE };

struct draft {
	enum draft_state state;
	bool has_names;
	uint64_t end_unix_ns;
};

static bool is_whole(const struct profile *profile)
{
	for (size_t i = 0; i < profile->note_count; i++)
		if (profile->notes[i].kind == NOTE_INCOMPLETE)
			return false;
	return true;
}

static bool has_names(const struct profile *profile)
{
	for (size_t i = 0; i < profile->note_count; i++)
		if (profile->notes[i].kind == NOTE_NO_SYMBOLS)
			return false;
	return true;
}

/* From standard input. */
static void read_draft(struct draft *draft)
{
	const struct read_options options = {.jobs = 1};
	struct profile *profile = NULL;
	struct error *err = profile_read_with("-", &options, &profile);

	if (err) {
		/* A lack of memory or of descriptors passes. */
		draft->state = err->kind == ERROR_SYSTEM ? DRAFT_UNKNOWN : DRAFT_UNREADABLE;
		error_destroy(err);
		return;
	}
	draft->end_unix_ns = profile->start_unix_ns + profile->stats.duration_ns;
	draft->has_names = has_names(profile);
	draft->state = is_whole(profile)	    ? DRAFT_WHOLE
		       : profile->stats.counted > 0 ? DRAFT_CUT
						    : DRAFT_EMPTY;
	profile_destroy(profile);
}

/* A draft to be read by another process. */
struct unread {
	const struct spool *spool;
	const char *name;
};

/* In the process: writes what the draft is. */
static int read_unread(void *context, int fd)
{
	const struct unread *u = context;
	int folder = u->spool->temporary_fd;
	struct draft draft = {.state = DRAFT_UNKNOWN};
	int in = openat(folder, u->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	/* What programs are called is theirs to choose. */
	struct error *err = rights_confine(-1, folder);

	if (!err && in >= 0 && dup2(in, STDIN_FILENO) >= 0)
		read_draft(&draft);
	return file_write_all(fd, &draft, sizeof(draft), "the draft") ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Without an answer of the process, DRAFT_UNKNOWN. */
static struct draft read_in_child(const struct spool *s, const char *name, uint64_t memory_bytes)
{
	struct unread unread = {s, name};
	const struct limited_work work = {.cpu_seconds = READ_SECONDS_MAX,
		.memory_bytes = memory_bytes,
		.kept_fd = s->temporary_fd,
		.run = read_unread,
		.context = &unread};
	struct draft draft = {.state = DRAFT_UNKNOWN}, answer;
	struct strbuf bytes = {0};
	struct limited_child child;
	struct error *err = limited_child_start(&child, &work);

	if (err) {
		error_destroy(err);
		return draft;
	}
	limited_child_read(&child, &bytes);
	if (limited_child_end(&child) == LIMITED_DONE && bytes.size == sizeof(answer)) {
		memcpy(&answer, bytes.data, sizeof(answer));
		draft = answer;
	}
	strbuf_deinit(&bytes);
	return draft;
}

/* The mark moves to the end of a draft that has later samples. */
static void reach(struct ledger *l, uint64_t end_unix_ns)
{
	struct ledger_instant until = l->state.until;

	if (end_unix_ns <= until.unix_ns || end_unix_ns > clock_unix_ns())
		return;
	if (until.monotonic_ns > 0)
		until.monotonic_ns += end_unix_ns - until.unix_ns;
	until.unix_ns = end_unix_ns;
	ledger_set_until(l, until);
}

static uint64_t modified_unix_ns(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * SECOND_NS + (uint64_t)st->st_mtim.tv_nsec;
}

static void keep(
	struct spool *s, const char *name, uint64_t bytes, bool names, struct salvage *result)
{
	struct error *err = spool_take(s, name);

	if (err) {
		/* It stays a draft, for the next start. */
		error_destroy(err);
		return;
	}
	result->kept++;
	result->kept_bytes += bytes;
	result->nameless += !names;
}

static void salvage_draft(
	struct spool *s, const char *name, uint64_t memory_bytes, struct salvage *result)
{
	struct draft draft = {.state = DRAFT_UNKNOWN};
	struct stat st = {0};

	(void)fstatat(s->temporary_fd, name, &st, AT_SYMLINK_NOFOLLOW);
	/* What was received came here when it was whole. */
	if (spool_digest(name))
		draft = (struct draft){.state = DRAFT_WHOLE, .has_names = true};
	else if (st.st_size == 0)
		draft.state = DRAFT_EMPTY;
	else
		draft = read_in_child(s, name, memory_bytes);
	if (draft.state == DRAFT_UNKNOWN)
		draft.end_unix_ns = modified_unix_ns(&st);
	if (!spool_digest(name)) {
		if (draft.state != DRAFT_WHOLE)
			ledger_not_told(&s->ledger, spool_number(name));
		/* One that waited for its start has sampled nothing up to then. */
		if (draft.state != DRAFT_EMPTY)
			reach(&s->ledger, draft.end_unix_ns);
	}
	if (draft.state == DRAFT_EMPTY) {
		result->empty += unlinkat(s->temporary_fd, name, 0) == 0;
	} else if (draft.state == DRAFT_UNREADABLE) {
		spool_drop_draft(s, name);
		result->unreadable++;
	} else {
		keep(s, name, (uint64_t)st.st_size, draft.has_names, result);
	}
}

/* Segments that are whole have the notes that they were given. */
static void settle_given(struct spool *s)
{
	for (size_t i = 0; i < LEDGER_GIVEN_MAX; i++) {
		uint64_t number = s->ledger.state.given[i].number;
		bool is_there = false;

		if (number == 0)
			continue;
		for (size_t k = 0; k < s->entries.count; k++)
			is_there |= s->entries.data[k].number + UINT64_C(1) == number;
		if (is_there)
			ledger_told(&s->ledger, (uint32_t)(number - 1));
		else
			ledger_not_told(&s->ledger, (uint32_t)(number - 1));
	}
}

void salvage_drafts(struct spool *s, uint64_t memory_bytes, struct salvage *result)
{
	*result = (struct salvage){0};
	for (size_t i = 0; i < s->drafts.count; i++)
		salvage_draft(s, s->drafts.data[i], memory_bytes, result);
	settle_given(s);
}
