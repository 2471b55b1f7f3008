/*
 * The records of our own events in their rings: perf_event_open(2), "MMAP layout".  They are
 * decoded like those in files, with the layout defined by our attributes.
 */
#include "record/events/perf_record.h"

#include <string.h>

#include "perfstream/format.h"
#include "perfstream/regs.h"

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

uint64_t perf_record_event_id(const struct perf_event_header *header)
{
	return word_at(header, sizeof(*header));
}

struct perfstream_record perf_record_of(const struct perf_event_header *header)
{
	struct perfstream_record record;

	(void)perfstream_record_at((const uint8_t *)header, header->size, false, &record);
	/*
	 * It is left over from another program's event (perf_attr_track): ours have no build IDs.
	 */
	if (header->type == PERF_RECORD_MMAP2)
		record.misc &= (uint16_t)~PERFSTREAM_MISC_MMAP_BUILD_ID;
	return record;
}

/* The chain without its markers, which are numbers just below 2^64. */
static void take_chain(const struct perfstream_words *chain, struct perf_sample *sample)
{
	sample->kernel_chain = (const uint64_t *)(const void *)chain->bytes;
	sample->kernel_count = chain->count;
	while (sample->kernel_count > 0 && sample->kernel_chain[0] >= PERF_CONTEXT_MAX) {
		sample->kernel_chain++;
		sample->kernel_count--;
	}
}

/* Of the samples of an event. */
static struct perfstream_layout layout_of(bool has_chain, bool has_period)
{
	struct perfstream_layout layout = {
		.sample_type = PERF_RECORD_SAMPLE_FIELDS, .user_regs = arch_here()->perf_mask};

	if (has_chain)
		layout.sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (!has_period)
		layout.sample_type ^= PERF_SAMPLE_PERIOD;
	return layout;
}

/* period NULL: the record has it. */
static bool read_sample(const struct perf_event_header *header, bool has_chain,
	const uint64_t *period, struct perf_sample *sample)
{
	struct perfstream_layout layout = layout_of(has_chain, period == NULL);
	struct perfstream_record record = perf_record_of(header);
	struct perfstream_sample fields;
	bool is_good = perfstream_sample_decode(&record, &layout, &fields);

	*sample = (struct perf_sample){
		.event_id = perf_record_event_id(header),
		.ip = fields.ip,
		.time_ns = fields.time_ns,
		.period = period ? *period : fields.period,
		.pid = fields.pid,
		.tid = fields.tid,
		.cpu = fields.cpu,
		.in_kernel = fields.mode == PERFSTREAM_MODE_KERNEL,
		.has_user = fields.has_regs,
		.stack = fields.stack,
		.stack_size = fields.stack_size,
	};
	if (fields.chain.count > 0)
		take_chain(&fields.chain, sample);
	/* 32-bit code has other registers and unwind rules: its frames are unknown. */
	if (fields.regs.count > 0)
		perfstream_regs(arch_here(), arch_here()->perf_mask, sample->in_kernel,
			&fields.regs, &sample->regs);
	return is_good;
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

struct perf_record_spare perf_record_spare(const struct perf_event_header *header, bool has_chain)
{
	struct perfstream_layout layout = layout_of(has_chain, true);
	struct perfstream_record record = perf_record_of(header);
	struct perfstream_sample fields;
	size_t word = sizeof(uint64_t);

	if (!perfstream_sample_decode(&record, &layout, &fields) || fields.stack == NULL)
		return (struct perf_record_spare){0};
	size_t at = (size_t)(fields.stack - (const uint8_t *)header) - word;
	uint64_t room = word_at(header, at), filled = (fields.stack_size + 7) & ~UINT64_C(7);

	if (at + word + room + word != header->size || filled >= room)
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

void perf_record_switch(const struct perf_event_header *header, struct perf_switch *s)
{
	const struct perfstream_layout layout = {
		.sample_type = PERF_RECORD_OTHER_FIELDS, .has_trailer = true};
	struct perfstream_record record = perf_record_of(header);
	struct perfstream_switch fields = {0};

	(void)perfstream_switch_decode(&record, &layout, &fields);
	*s = (struct perf_switch){
		.event_id = perfstream_record_id(&record, &layout),
		.pid = fields.pid,
		.tid = fields.tid,
		.time_ns = perf_record_time_ns(header),
		.out = fields.is_out,
		.preempted = fields.is_preempted,
	};
}
