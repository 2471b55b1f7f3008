/*
 * Decodes the records of perf events: perf_event_open(2), "MMAP layout".  The order of a sample's
 * fields is the kernel's.
 */
#include "record/perf_record.h"

#include <string.h>

#include "base/cursor.h"
#include "unwind/perf_regs.h"

static struct cursor record_body(const struct perf_event_header *header)
{
	struct cursor c;

	cursor_init(&c, header + 1, header->size - sizeof(*header), "perf record", 0);
	return c;
}

static uint64_t word_at(const struct perf_event_header *header, size_t offset)
{
	uint64_t value = 0;

	if (offset + sizeof(value) <= header->size)
		memcpy(&value, (const uint8_t *)header + offset, sizeof(value));
	return value;
}

uint64_t perf_record_time_ns(const struct perf_event_header *header)
{
	/* A sample: header, id, ip, pid and tid, time.  All others end in pid and tid, time, id. */
	if (header->type == PERF_RECORD_SAMPLE)
		return word_at(header, 32);
	return word_at(header, header->size - 2 * sizeof(uint64_t));
}

static uint64_t next_reg(void *cursor)
{
	return cursor_u64(cursor);
}

/* The chain without its markers, which are numbers just below 2^64. */
static void read_chain(struct cursor *c, struct perf_sample *sample)
{
	uint64_t count = cursor_u64(c);
	const uint8_t *bytes =
		count <= UINT16_MAX ? cursor_bytes(c, count * sizeof(uint64_t)) : NULL;

	if (!bytes)
		return;
	sample->kernel_chain = (const uint64_t *)(const void *)bytes;
	sample->kernel_count = count;
	while (sample->kernel_count > 0 && sample->kernel_chain[0] >= PERF_CONTEXT_MAX) {
		sample->kernel_chain++;
		sample->kernel_count--;
	}
}

static void read_stack(struct cursor *c, struct perf_sample *sample)
{
	uint64_t room = cursor_u64(c);

	sample->stack = NULL;
	sample->stack_size = 0;
	if (room == 0)
		return;
	const uint8_t *bytes = cursor_bytes(c, room);
	uint64_t filled = cursor_u64(c);

	if (!bytes || filled > room)
		return;
	sample->stack = bytes;
	sample->stack_size = filled;
}

uint64_t perf_record_event_id(const struct perf_event_header *header)
{
	return word_at(header, sizeof(*header));
}

/* period: NULL: it is in the record. */
static bool read_sample(const struct perf_event_header *header, bool has_chain,
	const uint64_t *period, struct perf_sample *sample)
{
	struct cursor c = record_body(header);

	*sample = (struct perf_sample){0};
	sample->in_kernel =
		(header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	sample->event_id = cursor_u64(&c);
	sample->ip = cursor_u64(&c);
	sample->pid = (int32_t)cursor_u32(&c);
	sample->tid = (int32_t)cursor_u32(&c);
	sample->time_ns = cursor_u64(&c);
	sample->cpu = cursor_u32(&c);
	cursor_skip(&c, 4);
	sample->period = period ? *period : cursor_u64(&c);
	if (has_chain)
		read_chain(&c, sample);
	/* 32-bit code has other registers and another unwinding: its frames are not known. */
	uint64_t abi = cursor_u64(&c);

	if (abi != PERF_SAMPLE_REGS_ABI_NONE)
		perf_regs_read(
			PERF_RECORD_USER_REGS, sample->in_kernel, next_reg, &c, &sample->regs);
	sample->has_user = abi == PERF_SAMPLE_REGS_ABI_64;
	read_stack(&c, sample);
	return cursor_ok(&c);
}

bool perf_record_sample(
	const struct perf_event_header *header, bool has_chain, struct perf_sample *sample)
{
	return read_sample(header, has_chain, NULL, sample);
}

bool perf_record_sample_of_period(const struct perf_event_header *header, bool has_chain,
	uint64_t period, struct perf_sample *sample)
{
	return read_sample(header, has_chain, &period, sample);
}

/* Of a sample: header, id, ip, pid and tid, time, CPU, period. */
#define AFTER_PERIOD 56

/* Where the size of the copy of the stack stands. */
static size_t room_offset(const struct perf_event_header *header, bool has_chain)
{
	size_t at = AFTER_PERIOD;

	if (has_chain)
		at += sizeof(uint64_t) * (1 + (word_at(header, at) & UINT16_MAX));
	bool has_regs = word_at(header, at) != PERF_SAMPLE_REGS_ABI_NONE;

	at += sizeof(uint64_t);
	if (has_regs)
		at += sizeof(uint64_t) * (size_t)__builtin_popcountll(PERF_RECORD_USER_REGS);
	return at;
}

struct perf_record_spare perf_record_spare(const struct perf_event_header *header, bool has_chain)
{
	size_t word = sizeof(uint64_t), at = room_offset(header, has_chain);
	uint64_t room = word_at(header, at);

	if (room == 0 || room > header->size || at + word + room + word != header->size)
		return (struct perf_record_spare){0};
	uint64_t filled = (word_at(header, header->size - word) + 7) & ~UINT64_C(7);

	if (filled >= room)
		return (struct perf_record_spare){0};
	return (struct perf_record_spare){room - filled, at};
}

void perf_record_copy(
	void *to, const struct perf_event_header *header, struct perf_record_spare spare)
{
	size_t word = sizeof(uint64_t), size = header->size - spare.size;
	uint16_t header_size = (uint16_t)size;
	uint64_t room;

	if (spare.size == 0) {
		memcpy(to, header, size);
		return;
	}
	memcpy(to, header, size - word);
	memcpy((uint8_t *)to + size - word, (const uint8_t *)header + header->size - word, word);
	room = word_at(header, spare.room_at) - spare.size;
	memcpy((uint8_t *)to + spare.room_at, &room, word);
	memcpy((uint8_t *)to + offsetof(struct perf_event_header, size), &header_size,
		sizeof(header_size));
}

static void put_hex(char *out, const uint8_t *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size; i++) {
		*out++ = digits[bytes[i] >> 4];
		*out++ = digits[bytes[i] & 15];
	}
	*out = '\0';
}

bool perf_record_mmap(const struct perf_event_header *header, struct perf_mmap *mmap)
{
	struct cursor c = record_body(header);

	*mmap = (struct perf_mmap){.time_ns = perf_record_time_ns(header)};
	mmap->pid = (int32_t)cursor_u32(&c);
	cursor_skip(&c, 4); /* tid */
	mmap->low_va = cursor_u64(&c);
	mmap->high_va = mmap->low_va + cursor_u64(&c);
	mmap->file_off = cursor_u64(&c);
	if (header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		uint8_t size = cursor_u8(&c);

		cursor_skip(&c, 3);
		const uint8_t *bytes = cursor_bytes(&c, 20);
		if (bytes && size <= 20)
			put_hex(mmap->build_id, bytes, size);
	} else {
		mmap->device_major = cursor_u32(&c);
		mmap->device_minor = cursor_u32(&c);
		mmap->inode = cursor_u64(&c);
		mmap->inode_generation = cursor_u64(&c);
	}
	mmap->executable = cursor_u32(&c) & 4; /* PROT_EXEC */
	cursor_skip(&c, 4);		       /* flags */
	mmap->path = cursor_string(&c);
	return cursor_ok(&c) && mmap->high_va > mmap->low_va;
}

bool perf_record_comm(const struct perf_event_header *header, struct perf_comm *comm)
{
	struct cursor c = record_body(header);

	*comm = (struct perf_comm){.time_ns = perf_record_time_ns(header)};
	comm->exec = header->misc & PERF_RECORD_MISC_COMM_EXEC;
	comm->pid = (int32_t)cursor_u32(&c);
	comm->tid = (int32_t)cursor_u32(&c);
	comm->name = cursor_string(&c);
	return cursor_ok(&c);
}

bool perf_record_task(const struct perf_event_header *header, struct perf_task *task)
{
	struct cursor c = record_body(header);

	*task = (struct perf_task){.time_ns = perf_record_time_ns(header)};
	task->pid = (int32_t)cursor_u32(&c);
	task->parent_pid = (int32_t)cursor_u32(&c);
	task->tid = (int32_t)cursor_u32(&c);
	task->parent_tid = (int32_t)cursor_u32(&c);
	return cursor_ok(&c);
}

/* What PERF_RECORD_OTHER_FIELDS put at the end of all records but samples. */
struct trailer {
	int32_t pid, tid;
	uint64_t time_ns, event_id;
};

void perf_record_switch(const struct perf_event_header *header, struct perf_switch *s)
{
	struct trailer trailer = {0};

	if (header->size >= sizeof(*header) + sizeof(trailer))
		memcpy(&trailer, (const uint8_t *)header + header->size - sizeof(trailer),
			sizeof(trailer));
	*s = (struct perf_switch){
		.event_id = trailer.event_id,
		.pid = trailer.pid,
		.tid = trailer.tid,
		.time_ns = trailer.time_ns,
		.out = header->misc & PERF_RECORD_MISC_SWITCH_OUT,
		.preempted = header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
	};
}

uint64_t perf_record_lost(const struct perf_event_header *header)
{
	struct cursor c = record_body(header);

	if (header->type == PERF_RECORD_LOST)
		cursor_skip(&c, 8); /* the event's id */
	return cursor_u64(&c);
}
