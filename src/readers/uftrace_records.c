/*
 * Records of uftrace: 8 bytes time (ns of the monotonic clock), then, lowest bits first, kind:2,
 * more:1, magic:3 (always 5), depth:10, address:48.
 *
 * After a record with `more` come arguments or a return value, filled up to whole 8 bytes.  How
 * long they are stands nowhere: it follows from what was asked for when it was recorded, patterns
 * of names matched against symbols, prototypes that uftrace knew, and debug information.  None of
 * that need be known here, since what follows shows itself: the next record is where magic, kind,
 * time and depth are right, twice running.  An event's data have their length in front.
 *
 * Source: uftrace, uftrace.h (struct uftrace_record) and utils/fstack.c (read_task_args), as read.
 */
#include "readers/uftrace_records.h"

#include "base/word.h"

enum {
	MAGIC = 5,
	STEP = 8,
	/* uftrace keeps at most 4096 bytes of arguments a thread; more is no argument. */
	ARGUMENTS_MAX = 16384,
};

/* A thread that did nothing for that long is not believed where a record is searched for. */
#define SILENCE_MAX_NS ((uint64_t)24 * 3600 * 1000000000)

void uftrace_records_init(struct uftrace_records *r, const struct file_bytes *bytes)
{
	*r = (struct uftrace_records){.data = bytes->data, .size = bytes->size};
}

static bool record_at(const struct uftrace_records *r, size_t at, struct uftrace_record *record)
{
	if (at > r->size || r->size - at < UFTRACE_RECORD_SIZE)
		return false;
	uint64_t word = word_read(r->data + at + 8, 8, false);
	if ((word >> 3 & 7) != MAGIC)
		return false;
	*record = (struct uftrace_record){.time_ns = word_read(r->data + at, 8, false),
		.kind = (enum uftrace_kind)(word & 3),
		.has_more = word >> 2 & 1,
		.depth = word >> 6 & 0x3ff,
		.addr = word >> 16};
	return true;
}

/* Whether b may be what comes right after a. */
static bool may_follow(const struct uftrace_record *a, const struct uftrace_record *b)
{
	if (b->time_ns < a->time_ns || b->time_ns - a->time_ns > SILENCE_MAX_NS)
		return false;
	if (a->kind > UFTRACE_EXIT || b->kind > UFTRACE_EXIT)
		return true;
	/* Modulo 1024; longjmp, exceptions and exec leave many at once. */
	if (b->kind == UFTRACE_ENTRY)
		return b->depth <= (a->kind == UFTRACE_ENTRY ? a->depth + 1 : a->depth);
	return b->depth <= a->depth;
}

static bool is_record(
	const struct uftrace_records *r, size_t at, const struct uftrace_record *before)
{
	struct uftrace_record first, second;

	if (at == r->size)
		return true;
	if (!record_at(r, at, &first) || !may_follow(before, &first))
		return false;
	at += UFTRACE_RECORD_SIZE;
	if (first.has_more || r->size - at < UFTRACE_RECORD_SIZE)
		return true;
	return record_at(r, at, &second) && may_follow(&first, &second);
}

static void skip_arguments(struct uftrace_records *r, const struct uftrace_record *record)
{
	size_t from = r->at;

	for (size_t size = 0; size <= ARGUMENTS_MAX && from + size <= r->size; size += STEP)
		if (is_record(r, from + size, record)) {
			r->at = from + size;
			return;
		}
	r->problem = "no record follows the arguments of a call";
}

static void skip_event(struct uftrace_records *r)
{
	if (r->size - r->at < 2) {
		r->problem = "an event without its data";
		return;
	}
	size_t size = 2 + (size_t)word_read(r->data + r->at, 2, false);
	size = (size + STEP - 1) / STEP * STEP;
	if (size > r->size - r->at)
		r->problem = "an event without all of its data";
	else
		r->at += size;
}

bool uftrace_records_next(struct uftrace_records *r, struct uftrace_record *record)
{
	if (r->problem || r->at == r->size)
		return false;
	if (r->size - r->at < UFTRACE_RECORD_SIZE)
		r->problem = "the last record is cut off";
	else if (!record_at(r, r->at, record))
		r->problem = "what should be a record is none";
	if (r->problem)
		return false;
	r->at += UFTRACE_RECORD_SIZE;
	r->now_ns = record->time_ns;
	if (record->has_more && record->kind <= UFTRACE_EXIT)
		skip_arguments(r, record);
	else if (record->has_more && record->kind == UFTRACE_EVENT)
		skip_event(r);
	return true;
}
