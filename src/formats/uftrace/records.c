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
#include "formats/uftrace/records.h"

#include "base/word.h"

enum {
	MAGIC = 5,
	STEP = 8,
	/* uftrace keeps at most 4096 bytes of arguments a thread; more is no argument. */
	ARGUMENTS_MAX = 16384,
};

/*
 * How long a thread may have done nothing before the next record: what looks like one is rather
 * believed if it comes soon.
 */
static const uint64_t silences_ns[] = {(uint64_t)10 * 1000000000, (uint64_t)24 * 3600 * 1000000000};

/* Events have numbers, and lost records are counted; functions stand higher. */
#define NUMBER_MAX ((uint64_t)1 << 24)

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

static bool is_call(const struct uftrace_record *r)
{
	return r->kind <= UFTRACE_EXIT;
}

/* Whether b may be what comes right after a. */
static bool may_follow(const struct uftrace_records *r, const struct uftrace_record *a,
	const struct uftrace_record *b, uint64_t silence_ns)
{
	if (b->time_ns < a->time_ns || b->time_ns - a->time_ns > silence_ns)
		return false;
	if (!is_call(b))
		return b->addr < NUMBER_MAX && !(b->kind == UFTRACE_LOST && b->has_more);
	if (b->addr < NUMBER_MAX >> 8)
		return false;
	if (!is_call(a))
		return true;
	/* longjmp, exceptions and exec leave many at once; deep stacks begin again at 0. */
	if (b->kind == UFTRACE_ENTRY)
		return b->depth <= (a->kind == UFTRACE_ENTRY ? a->depth + 1 : a->depth);
	if (a->kind == UFTRACE_ENTRY && a->depth == b->depth)
		return a->addr == b->addr;
	return b->depth <= a->depth && (r->open[b->depth] == 0 || r->open[b->depth] == b->addr);
}

static bool is_record(const struct uftrace_records *r, size_t at,
	const struct uftrace_record *before, uint64_t silence_ns)
{
	struct uftrace_record first, second;

	if (at == r->size)
		return true;
	if (!record_at(r, at, &first) || !may_follow(r, before, &first, silence_ns))
		return false;
	at += UFTRACE_RECORD_SIZE;
	if (first.has_more || r->size - at < UFTRACE_RECORD_SIZE)
		return true;
	return record_at(r, at, &second) && may_follow(r, &first, &second, silence_ns);
}

static void skip_arguments(struct uftrace_records *r, const struct uftrace_record *record)
{
	size_t from = r->at;

	for (size_t i = 0; i < ARRAY_SIZE(silences_ns); i++)
		for (size_t size = 0; size <= ARGUMENTS_MAX && from + size <= r->size; size += STEP)
			if (is_record(r, from + size, record, silences_ns[i])) {
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
	if (record->kind == UFTRACE_ENTRY)
		r->open[record->depth] = record->addr;
	if (record->has_more && record->kind <= UFTRACE_EXIT)
		skip_arguments(r, record);
	else if (record->has_more && record->kind == UFTRACE_EVENT)
		skip_event(r);
	return true;
}
