/*
 * Epochs of code generated at run time.  Places are compared by blocks, to which functions are
 * aligned: when a dump puts code into a block that already had some, a new epoch begins.
 */
#include "perfstream/jit.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/search.h"

#define BLOCK_BITS 6
#define BLOCKS_MAX ((size_t)1 << 22)

void perfstream_jit_init(struct perfstream_jit *jit)
{
	*jit = (struct perfstream_jit){.fd = -1};
}

static void close_dump(struct perfstream_jit *jit)
{
	if (jit->fd >= 0)
		close(jit->fd);
	jit->fd = -1;
}

void perfstream_jit_deinit(struct perfstream_jit *jit)
{
	close_dump(jit);
	map_deinit(&jit->blocks);
	vec_deinit(&jit->begin_ns);
	jit_rules_deinit(&jit->rules);
}

static bool read_dump(void *context, uint64_t offset, void *bytes, size_t size)
{
	const struct perfstream_jit *jit = context;

	return offset <= INT64_MAX && pread(jit->fd, bytes, size, (off_t)offset) == (ssize_t)size;
}

bool perfstream_jit_open(struct perfstream_jit *jit, const char *path, uint64_t gap_ns)
{
	/* A hostile one may be a pipe, and opening it would block. */
	jit->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	jit->reader = (struct jitdump_reader){.read = read_dump};
	jit->gap_ns = gap_ns;
	return jit->fd >= 0;
}

/* Whether new code replaces old code. */
static bool take_place(struct perfstream_jit *jit, uint64_t low, uint64_t size)
{
	bool was_taken = false, added;

	for (uint64_t block = low >> BLOCK_BITS; block << BLOCK_BITS < low + size; block++) {
		if (jit->blocks.count >= BLOCKS_MAX)
			return true;
		map_at(&jit->blocks, block, 0, 0, &added);
		was_taken |= !added;
	}
	return was_taken;
}

/* From time_ns on, there is different code.  A time before the last epoch begins no new one. */
static void begin_epoch(struct perfstream_jit *jit, uint64_t time_ns)
{
	size_t count = jit->begin_ns.count;
	uint64_t last_ns = count ? jit->begin_ns.data[count - 1] : 0;

	if (count == 0)
		vec_push(&jit->begin_ns, time_ns);
	else if (time_ns > last_ns)
		vec_push(&jit->begin_ns,
			time_ns >= last_ns + jit->gap_ns ? time_ns : last_ns + jit->gap_ns);
}

void perfstream_jit_read(struct perfstream_jit *jit, size_t most)
{
	struct jitdump_record record;

	/* Set here and where rules are looked up, as the struct may have been moved. */
	jit->reader.context = jit;
	for (size_t i = 0; jit->fd >= 0 && i < most && jitdump_next(&jit->reader, &record); i++) {
		bool is_code = record.kind == JITDUMP_LOAD || record.kind == JITDUMP_MOVE;

		jit_rules_add(&jit->rules, &record);
		if (is_code && take_place(jit, record.low, record.size)) {
			begin_epoch(jit, record.time_ns);
			jit->turns += jit->rules.is_used;
		}
	}
}

void perfstream_jit_finish(struct perfstream_jit *jit)
{
	map_deinit(&jit->blocks);
	if (jit->rules.is_used)
		return;
	jit_rules_deinit(&jit->rules);
	close_dump(jit);
}

size_t perfstream_jit_epoch(const struct perfstream_jit *jit, uint64_t time_ns)
{
	return partition_point(i, 0, jit->begin_ns.count, jit->begin_ns.data[i] <= time_ns);
}

uint64_t perfstream_jit_begin_ns(const struct perfstream_jit *jit, size_t epoch)
{
	return epoch ? jit->begin_ns.data[epoch - 1] : 0;
}

bool perfstream_jit_rule(
	struct perfstream_jit *jit, uint64_t va, uint64_t time_ns, struct cfi_rule *rule)
{
	jit->reader.context = jit;
	return jit->fd >= 0 && jit_rules_find(&jit->rules, &jit->reader, va, time_ns, rule);
}

uint64_t perfstream_jit_bad_records(const struct perfstream_jit *jit)
{
	return jit->reader.bad_records + jit->rules.bad + jit->rules.left_out;
}
