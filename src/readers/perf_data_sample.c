/*
 * Decodes records.  What a sample holds, and in which order, is perf_event_open(2)'s; of what comes
 * behind the user stack nothing is needed.
 */
#include "readers/perf_data_sample.h"

#include "readers/perf_data_format.h"

enum {
	HEADER_SIZE = PERF_DATA_HEADER_SIZE,
	WORD = 8,
	BRANCH_WORDS = PERF_DATA_BRANCH_WORDS,
	BUILD_ID_MOST = 20
};

struct cursor perf_data_body(const struct perf_data_record *record)
{
	struct cursor c;

	cursor_init(&c, record->bytes + HEADER_SIZE, record->size - HEADER_SIZE, "perf record", 0);
	c.is_swapped = record->is_swapped;
	return c;
}

/* How many of these bits are set, in words. */
static size_t words_of(uint64_t sample_type, uint64_t bits)
{
	return (size_t)__builtin_popcountll(sample_type & bits) * WORD;
}

/* The word that many bytes from the start of the body, or from its end; 0 if it is not there. */
static bool word_in(
	const struct perf_data_record *record, size_t offset, bool from_end, uint64_t *value)
{
	if (offset + WORD > record->size - HEADER_SIZE + (from_end ? WORD : 0) ||
		(from_end && offset == 0))
		return false;
	size_t at = from_end ? record->size - offset : HEADER_SIZE + offset;

	*value = perf_data_word_at(record->bytes + at, record->is_swapped);
	return true;
}

uint64_t perf_data_record_id(
	const struct perf_data_record *record, const struct perf_data_event *first)
{
	uint64_t type = first->sample_type, id = 0;
	bool is_sample = record->type == PERF_DATA_SAMPLE;
	size_t offset = is_sample ? 0 : WORD;

	if (!(type & (PERF_DATA_IDENTIFIER | PERF_DATA_ID)))
		return 0;
	if (!(type & PERF_DATA_IDENTIFIER))
		offset = is_sample ? words_of(type, PERF_DATA_IP | PERF_DATA_TID | PERF_DATA_TIME |
							    PERF_DATA_ADDR)
				   : words_of(type,
					     PERF_DATA_ID | PERF_DATA_STREAM_ID | PERF_DATA_CPU);
	return word_in(record, offset, !is_sample, &id) ? id : 0;
}

bool perf_data_record_time(const struct perf_data_record *record,
	const struct perf_data_event *event, uint64_t *time_ns)
{
	uint64_t type = event->sample_type;
	bool is_sample = record->type == PERF_DATA_SAMPLE;

	if (!(type & PERF_DATA_TIME) || (!is_sample && !event->has_trailer))
		return false;
	size_t offset =
		is_sample ? words_of(type, PERF_DATA_IDENTIFIER | PERF_DATA_IP | PERF_DATA_TID)
			  : words_of(type, PERF_DATA_TIME | PERF_DATA_ID | PERF_DATA_STREAM_ID |
						   PERF_DATA_CPU | PERF_DATA_IDENTIFIER);
	return word_in(record, offset, !is_sample, time_ns);
}

/* ---- samples ---- */

static struct perf_data_words read_words(struct cursor *c, uint64_t count)
{
	if (count > UINT16_MAX) {
		cursor_fail(c, "a count leads out of its record");
		return (struct perf_data_words){0};
	}
	const uint8_t *bytes = cursor_bytes(c, count * WORD);

	return (struct perf_data_words){bytes, bytes ? (size_t)count : 0, c->is_swapped};
}

/* Words of one counter in read_format. */
static size_t words_per_read(uint64_t read_format)
{
	return 1 + (size_t)__builtin_popcountll(
			   read_format & (PERF_DATA_READ_ID | PERF_DATA_READ_LOST));
}

static void read_counters(
	struct cursor *c, const struct perf_data_event *event, struct perf_data_sample *sample)
{
	uint64_t format = event->read_format;
	size_t times = (size_t) !!(format & PERF_DATA_READ_ENABLED) +
		       (size_t) !!(format & PERF_DATA_READ_RUNNING);
	bool is_group = format & PERF_DATA_READ_GROUP;
	uint64_t count = is_group ? cursor_u64(c) : 1;

	if (count > UINT16_MAX) {
		cursor_fail(c, "a count leads out of its record");
		return;
	}
	/* Alone, the value is before the times. */
	sample->reads = *c;
	if (is_group)
		cursor_skip(&sample->reads, times * WORD);
	sample->read_count = count;
	cursor_skip(c, (times + count * words_per_read(format)) * WORD);
}

bool perf_data_next_read(struct perf_data_sample *sample, const struct perf_data_event *event,
	struct perf_data_read *read)
{
	uint64_t format = event->read_format;

	if (sample->read_count == 0)
		return false;
	sample->read_count--;
	read->value = cursor_u64(&sample->reads);
	if (!(format & PERF_DATA_READ_GROUP)) {
		if (format & PERF_DATA_READ_ENABLED)
			cursor_skip(&sample->reads, WORD);
		if (format & PERF_DATA_READ_RUNNING)
			cursor_skip(&sample->reads, WORD);
	}
	read->id = format & PERF_DATA_READ_ID ? cursor_u64(&sample->reads) : 0;
	if (format & PERF_DATA_READ_LOST)
		cursor_skip(&sample->reads, WORD);
	return cursor_ok(&sample->reads);
}

static void read_branches(
	struct cursor *c, const struct perf_data_event *event, struct perf_data_sample *sample)
{
	uint64_t count = cursor_u64(c);

	if (event->branch_type & PERF_DATA_BRANCH_HW_INDEX)
		cursor_skip(c, WORD);
	if (count > UINT16_MAX) {
		cursor_fail(c, "a count leads out of its record");
		return;
	}
	sample->branches = read_words(c, count * BRANCH_WORDS);
	if (event->branch_type & PERF_DATA_BRANCH_COUNTERS)
		cursor_skip(c, count * WORD);
}

static void read_regs(
	struct cursor *c, const struct perf_data_event *event, struct perf_data_sample *sample)
{
	enum { ABI_NONE = 0, ABI_64 = 2 };
	uint64_t abi = cursor_u64(c);

	if (abi == ABI_NONE)
		return;
	sample->regs = read_words(c, (uint64_t)__builtin_popcountll(event->user_regs));
	sample->has_regs = abi == ABI_64 && cursor_ok(c);
}

static void read_stack(struct cursor *c, struct perf_data_sample *sample)
{
	uint64_t room = cursor_u64(c);

	if (room == 0)
		return;
	const uint8_t *bytes = cursor_bytes(c, room);
	uint64_t filled = cursor_u64(c);

	if (bytes == NULL || filled > room)
		return;
	sample->stack = bytes;
	sample->stack_size = (size_t)filled;
}

/* The fields up to the period. */
static void read_plain_fields(struct cursor *c, uint64_t type, struct perf_data_sample *sample)
{
	if (type & PERF_DATA_IDENTIFIER)
		cursor_skip(c, WORD);
	if (type & PERF_DATA_IP)
		sample->ip = cursor_u64(c);
	if (type & PERF_DATA_TID) {
		sample->pid = (int32_t)cursor_u32(c);
		sample->tid = (int32_t)cursor_u32(c);
	}
	if (type & PERF_DATA_TIME)
		sample->time_ns = cursor_u64(c);
	cursor_skip(c, words_of(type, PERF_DATA_ADDR | PERF_DATA_ID | PERF_DATA_STREAM_ID));
	sample->cpu = PERF_DATA_NO_CPU;
	if (type & PERF_DATA_CPU) {
		sample->cpu = cursor_u32(c);
		cursor_skip(c, 4);
	}
	if (type & PERF_DATA_PERIOD)
		sample->period = cursor_u64(c);
	sample->has_period = type & PERF_DATA_PERIOD;
}

bool perf_data_sample_decode(const struct perf_data_record *record,
	const struct perf_data_event *event, struct perf_data_sample *sample)
{
	struct cursor c = perf_data_body(record);
	uint64_t type = event->sample_type;

	*sample = (struct perf_data_sample){.mode = record->misc & PERF_DATA_MISC_CPUMODE};
	read_plain_fields(&c, type, sample);
	if (type & PERF_DATA_READ)
		read_counters(&c, event, sample);
	if (type & PERF_DATA_CALLCHAIN) {
		sample->chain = read_words(&c, cursor_u64(&c));
		sample->has_chain = true;
	}
	if (type & PERF_DATA_RAW)
		cursor_skip(&c, cursor_u32(&c));
	if (type & PERF_DATA_BRANCH_STACK)
		read_branches(&c, event, sample);
	if (type & PERF_DATA_REGS_USER)
		read_regs(&c, event, sample);
	if (type & PERF_DATA_STACK_USER)
		read_stack(&c, sample);
	return cursor_ok(&c);
}

/* ---- others ---- */

void perf_data_build_id(const uint8_t *bytes, size_t size, char hex[41])
{
	static const char digits[] = "0123456789abcdef";
	bool is_none = true;

	if (size > BUILD_ID_MOST)
		size = BUILD_ID_MOST;
	for (size_t i = 0; i < size; i++)
		is_none &= bytes[i] == 0;
	for (size_t i = 0; i < size && !is_none; i++) {
		*hex++ = digits[bytes[i] >> 4];
		*hex++ = digits[bytes[i] & 15];
	}
	*hex = '\0';
}

bool perf_data_mmap_decode(const struct perf_data_record *record, struct perf_data_mmap *mmap)
{
	enum { PROT_CODE = 4, IDENTITY_SIZE = 24 };
	struct cursor c = perf_data_body(record);

	*mmap = (struct perf_data_mmap){.is_code = !(record->misc & PERF_DATA_MISC_MMAP_DATA)};
	mmap->pid = (int32_t)cursor_u32(&c);
	cursor_skip(&c, 4); /* tid */
	mmap->low_va = cursor_u64(&c);
	mmap->size = cursor_u64(&c);
	mmap->file_off = cursor_u64(&c);
	if (record->type == PERF_DATA_MMAP2) {
		const uint8_t *identity = cursor_bytes(&c, IDENTITY_SIZE);

		if (identity && (record->misc & PERF_DATA_MISC_MMAP_BUILD_ID))
			perf_data_build_id(identity + 4, identity[0], mmap->build_id);
		mmap->is_code &= (cursor_u32(&c) & PROT_CODE) != 0;
		cursor_skip(&c, 4); /* flags */
	}
	mmap->path = cursor_string(&c);
	return cursor_ok(&c) && mmap->size && mmap->size <= UINT64_MAX - mmap->low_va;
}

bool perf_data_task_decode(const struct perf_data_record *record, struct perf_data_task *task)
{
	struct cursor c = perf_data_body(record);

	*task = (struct perf_data_task){.pid = (int32_t)cursor_u32(&c)};
	if (record->type == PERF_DATA_COMM) {
		task->tid = (int32_t)cursor_u32(&c);
		task->name = cursor_string(&c);
	} else {
		task->parent_pid = (int32_t)cursor_u32(&c);
		task->tid = (int32_t)cursor_u32(&c);
		task->parent_tid = (int32_t)cursor_u32(&c);
	}
	return cursor_ok(&c);
}
