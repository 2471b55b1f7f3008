/*
 * Decodes records. perf_event_open(2) defines the fields of a sample and their order; the fields
 * after the user stack are not needed.
 */
#include "perfstream/record.h"

#include "perfstream/format.h"

enum {
	HEADER_SIZE = PERFSTREAM_HEADER_SIZE,
	WORD = 8,
	BRANCH_WORDS = PERFSTREAM_BRANCH_WORDS,
	BUILD_ID_MAX = 20
};

struct cursor perfstream_body(const struct perfstream_record *record)
{
	struct cursor c;

	cursor_init(&c, record->bytes + HEADER_SIZE, record->size - HEADER_SIZE, "perf record", 0);
	c.is_swapped = record->is_swapped;
	return c;
}

/* The number of words of the fields for these bits. */
static size_t words_of(uint64_t sample_type, uint64_t bits)
{
	return (size_t)__builtin_popcountll(sample_type & bits) * WORD;
}

/* Reads the word at an offset from the start of the body, or from its end; 0 if there is none. */
static bool word_in(
	const struct perfstream_record *record, size_t offset, bool from_end, uint64_t *value)
{
	if (offset + WORD > record->size - HEADER_SIZE + (from_end ? WORD : 0) ||
		(from_end && offset == 0))
		return false;
	size_t at = from_end ? record->size - offset : HEADER_SIZE + offset;

	*value = perfstream_word_at(record->bytes + at, record->is_swapped);
	return true;
}

uint64_t perfstream_record_id(
	const struct perfstream_record *record, const struct perfstream_layout *layout)
{
	uint64_t type = layout->sample_type, id = 0;
	bool is_sample = record->type == PERFSTREAM_SAMPLE;
	size_t offset = is_sample ? 0 : WORD;

	if (!(type & (PERFSTREAM_FIELD_IDENTIFIER | PERFSTREAM_FIELD_ID)))
		return 0;
	if (!(type & PERFSTREAM_FIELD_IDENTIFIER))
		offset = is_sample
				 ? words_of(type, PERFSTREAM_FIELD_IP | PERFSTREAM_FIELD_TID |
							  PERFSTREAM_FIELD_TIME |
							  PERFSTREAM_FIELD_ADDR)
				 : words_of(type, PERFSTREAM_FIELD_ID | PERFSTREAM_FIELD_STREAM_ID |
							  PERFSTREAM_FIELD_CPU);
	return word_in(record, offset, !is_sample, &id) ? id : 0;
}

bool perfstream_record_time(const struct perfstream_record *record,
	const struct perfstream_layout *layout, uint64_t *time_ns)
{
	uint64_t type = layout->sample_type;
	bool is_sample = record->type == PERFSTREAM_SAMPLE;

	if (!(type & PERFSTREAM_FIELD_TIME) || (!is_sample && !layout->has_trailer))
		return false;
	size_t offset =
		is_sample
			? words_of(type, PERFSTREAM_FIELD_IDENTIFIER | PERFSTREAM_FIELD_IP |
						 PERFSTREAM_FIELD_TID)
			: words_of(type, PERFSTREAM_FIELD_TIME | PERFSTREAM_FIELD_ID |
						 PERFSTREAM_FIELD_STREAM_ID | PERFSTREAM_FIELD_CPU |
						 PERFSTREAM_FIELD_IDENTIFIER);
	return word_in(record, offset, !is_sample, time_ns);
}

/* ---- samples ---- */

static struct perfstream_words read_words(struct cursor *c, uint64_t count)
{
	if (count > UINT16_MAX) {
		cursor_fail(c, "a count leads out of its record");
		return (struct perfstream_words){0};
	}
	const uint8_t *bytes = cursor_bytes(c, count * WORD);

	return (struct perfstream_words){bytes, bytes ? (size_t)count : 0, c->is_swapped};
}

/* Words of one counter in read_format. */
static size_t words_per_read(uint64_t read_format)
{
	return 1 + (size_t)__builtin_popcountll(
			   read_format & (PERFSTREAM_READ_ID | PERFSTREAM_READ_LOST));
}

static void read_counters(
	struct cursor *c, const struct perfstream_layout *layout, struct perfstream_sample *sample)
{
	uint64_t format = layout->read_format;
	size_t times = (size_t) !!(format & PERFSTREAM_READ_ENABLED) +
		       (size_t) !!(format & PERFSTREAM_READ_RUNNING);
	bool is_group = format & PERFSTREAM_READ_GROUP;
	uint64_t count = is_group ? cursor_u64(c) : 1;

	if (count > UINT16_MAX) {
		cursor_fail(c, "a count leads out of its record");
		return;
	}
	/* Without a group, the value precedes the times. */
	sample->reads = *c;
	if (is_group)
		cursor_skip(&sample->reads, times * WORD);
	sample->read_count = count;
	cursor_skip(c, (times + count * words_per_read(format)) * WORD);
}

bool perfstream_next_read(struct perfstream_sample *sample, const struct perfstream_layout *layout,
	struct perfstream_read *read)
{
	uint64_t format = layout->read_format;

	if (sample->read_count == 0)
		return false;
	sample->read_count--;
	read->value = cursor_u64(&sample->reads);
	if (!(format & PERFSTREAM_READ_GROUP)) {
		if (format & PERFSTREAM_READ_ENABLED)
			cursor_skip(&sample->reads, WORD);
		if (format & PERFSTREAM_READ_RUNNING)
			cursor_skip(&sample->reads, WORD);
	}
	read->id = format & PERFSTREAM_READ_ID ? cursor_u64(&sample->reads) : 0;
	if (format & PERFSTREAM_READ_LOST)
		cursor_skip(&sample->reads, WORD);
	return cursor_ok(&sample->reads);
}

static void read_branches(
	struct cursor *c, const struct perfstream_layout *layout, struct perfstream_sample *sample)
{
	uint64_t count = cursor_u64(c);

	if (layout->branch_type & PERFSTREAM_BRANCH_HW_INDEX)
		cursor_skip(c, WORD);
	if (count > UINT16_MAX) {
		cursor_fail(c, "a count leads out of its record");
		return;
	}
	sample->branches = read_words(c, count * BRANCH_WORDS);
	if (layout->branch_type & PERFSTREAM_BRANCH_COUNTERS)
		cursor_skip(c, count * WORD);
}

static void read_regs(
	struct cursor *c, const struct perfstream_layout *layout, struct perfstream_sample *sample)
{
	enum { ABI_NONE = 0, ABI_64 = 2 };
	uint64_t abi = cursor_u64(c);

	if (abi == ABI_NONE)
		return;
	sample->regs = read_words(c, (uint64_t)__builtin_popcountll(layout->user_regs));
	sample->has_regs = abi == ABI_64 && cursor_ok(c);
}

static void read_stack(struct cursor *c, struct perfstream_sample *sample)
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
static void read_plain_fields(struct cursor *c, uint64_t type, struct perfstream_sample *sample)
{
	if (type & PERFSTREAM_FIELD_IDENTIFIER)
		cursor_skip(c, WORD);
	if (type & PERFSTREAM_FIELD_IP)
		sample->ip = cursor_u64(c);
	if (type & PERFSTREAM_FIELD_TID) {
		sample->pid = (int32_t)cursor_u32(c);
		sample->tid = (int32_t)cursor_u32(c);
	}
	if (type & PERFSTREAM_FIELD_TIME)
		sample->time_ns = cursor_u64(c);
	cursor_skip(c, words_of(type, PERFSTREAM_FIELD_ADDR | PERFSTREAM_FIELD_ID |
					      PERFSTREAM_FIELD_STREAM_ID));
	sample->cpu = PERFSTREAM_NO_CPU;
	if (type & PERFSTREAM_FIELD_CPU) {
		sample->cpu = cursor_u32(c);
		cursor_skip(c, 4);
	}
	if (type & PERFSTREAM_FIELD_PERIOD)
		sample->period = cursor_u64(c);
	sample->has_period = type & PERFSTREAM_FIELD_PERIOD;
}

bool perfstream_sample_decode(const struct perfstream_record *record,
	const struct perfstream_layout *layout, struct perfstream_sample *sample)
{
	struct cursor c = perfstream_body(record);
	uint64_t type = layout->sample_type;

	*sample = (struct perfstream_sample){.mode = record->misc & PERFSTREAM_MISC_CPUMODE};
	read_plain_fields(&c, type, sample);
	if (type & PERFSTREAM_FIELD_READ)
		read_counters(&c, layout, sample);
	if (type & PERFSTREAM_FIELD_CALLCHAIN) {
		sample->chain = read_words(&c, cursor_u64(&c));
		sample->has_chain = true;
	}
	if (type & PERFSTREAM_FIELD_RAW) {
		sample->raw_size = cursor_u32(&c);
		sample->raw = cursor_bytes(&c, sample->raw_size);
	}
	if (type & PERFSTREAM_FIELD_BRANCH_STACK)
		read_branches(&c, layout, sample);
	if (type & PERFSTREAM_FIELD_REGS_USER)
		read_regs(&c, layout, sample);
	if (type & PERFSTREAM_FIELD_STACK_USER)
		read_stack(&c, sample);
	return cursor_ok(&c);
}

/* ---- others ---- */

void perfstream_build_id(const uint8_t *bytes, size_t size, char hex[41])
{
	static const char digits[] = "0123456789abcdef";
	bool is_none = true;

	if (size > BUILD_ID_MAX)
		size = 0;
	for (size_t i = 0; i < size; i++)
		is_none &= bytes[i] == 0;
	for (size_t i = 0; i < size && !is_none; i++) {
		*hex++ = digits[bytes[i] >> 4];
		*hex++ = digits[bytes[i] & 15];
	}
	*hex = '\0';
}

enum { IDENTITY_SIZE = 24, IDENTITY_HEADER_SIZE = 4 };

/*
 * Whether the identity of a file in MMAP2 is a build ID: its size in a byte, three zeros, the build
 * ID and zeros.  Else it is the device, the inode and its generation.  The kernel's mark alone does
 * not show that: Linux up to at least 6.18 may leave it over from another program's event.
 */
static bool is_build_id(const struct perfstream_record *record, const uint8_t *identity)
{
	size_t size = identity[0];
	uint8_t others = 0;

	if (!(record->misc & PERFSTREAM_MISC_MMAP_BUILD_ID) || size > BUILD_ID_MAX)
		return false;
	for (size_t i = 1; i < IDENTITY_SIZE; i++)
		if (i < IDENTITY_HEADER_SIZE || i >= IDENTITY_HEADER_SIZE + size)
			others |= identity[i];
	return others == 0;
}

static void read_identity(const struct perfstream_record *record, const uint8_t *identity,
	struct perfstream_mmap *mmap)
{
	enum { INODE_OFFSET = 8 };

	if (is_build_id(record, identity)) {
		perfstream_build_id(identity + IDENTITY_HEADER_SIZE, identity[0], mmap->build_id);
		return;
	}
	/* The major number first, then the minor one. */
	uint64_t device = perfstream_word_at(identity, record->is_swapped);

	mmap->device = record->is_swapped ? device : device << 32 | device >> 32;
	mmap->inode = perfstream_word_at(identity + INODE_OFFSET, record->is_swapped);
}

bool perfstream_mmap_decode(const struct perfstream_record *record, struct perfstream_mmap *mmap)
{
	enum { PROT_CODE = 4 };
	struct cursor c = perfstream_body(record);

	*mmap = (struct perfstream_mmap){.is_code = !(record->misc & PERFSTREAM_MISC_MMAP_DATA)};
	mmap->pid = (int32_t)cursor_u32(&c);
	cursor_skip(&c, 4); /* tid */
	mmap->low_va = cursor_u64(&c);
	mmap->size = cursor_u64(&c);
	mmap->file_off = cursor_u64(&c);
	if (record->type == PERFSTREAM_MMAP2) {
		const uint8_t *identity = cursor_bytes(&c, IDENTITY_SIZE);

		if (identity)
			read_identity(record, identity, mmap);
		mmap->is_code &= (cursor_u32(&c) & PROT_CODE) != 0;
		cursor_skip(&c, 4); /* flags */
	}
	mmap->path = cursor_string(&c);
	return cursor_ok(&c) && mmap->size && mmap->size <= UINT64_MAX - mmap->low_va;
}

bool perfstream_task_decode(const struct perfstream_record *record, struct perfstream_task *task)
{
	struct cursor c = perfstream_body(record);

	*task = (struct perfstream_task){.pid = (int32_t)cursor_u32(&c)};
	if (record->type == PERFSTREAM_COMM) {
		task->tid = (int32_t)cursor_u32(&c);
		task->name = cursor_string(&c);
	} else {
		task->parent_pid = (int32_t)cursor_u32(&c);
		task->tid = (int32_t)cursor_u32(&c);
		task->parent_tid = (int32_t)cursor_u32(&c);
	}
	return cursor_ok(&c);
}

bool perfstream_switch_decode(const struct perfstream_record *record,
	const struct perfstream_layout *layout, struct perfstream_switch *s)
{
	uint64_t ids;
	size_t offset = words_of(
		layout->sample_type, PERFSTREAM_FIELD_TID | PERFSTREAM_FIELD_TIME |
					     PERFSTREAM_FIELD_ID | PERFSTREAM_FIELD_STREAM_ID |
					     PERFSTREAM_FIELD_CPU | PERFSTREAM_FIELD_IDENTIFIER);

	if (!(layout->sample_type & PERFSTREAM_FIELD_TID) || !layout->has_trailer ||
		!word_in(record, offset, true, &ids))
		return false;
	/* Two 32-bit numbers, the lower one first in either byte order. */
	if (record->is_swapped)
		ids = ids << 32 | ids >> 32;
	*s = (struct perfstream_switch){
		.pid = (int32_t)ids,
		.tid = (int32_t)(ids >> 32),
		.is_out = record->misc & PERFSTREAM_MISC_SWITCH_OUT,
		.is_preempted = record->misc & PERFSTREAM_MISC_SWITCH_PREEMPT,
	};
	return true;
}

uint64_t perfstream_lost(const struct perfstream_record *record)
{
	struct cursor c = perfstream_body(record);

	if (record->type == PERFSTREAM_LOST)
		cursor_skip(&c, WORD); /* the event's id */
	return cursor_u64(&c);
}
