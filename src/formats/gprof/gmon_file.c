/*
 * gmon.out: a header of 20 bytes ("gmon", version 1, 12 bytes of nothing), then records, each a
 * byte that says its kind and what belongs to it.  Nothing marks where records begin, so reading
 * ends with the first one that is not right.
 *
 * Source: the gprof manual, "Profiling Data File Format"; sys/gmon_out.h of glibc.
 */
#include "formats/gprof/gmon_file.h"

#include "base/cursor.h"
#include "base/word.h"

enum gmon_tag { TAG_HISTOGRAM, TAG_ARC, TAG_BLOCKS };

#define HEADER_SIZE    20u
#define DIMENSION_SIZE 15u
#define RATE_MAX       1000000000u
#define BIN_SIZE       2u

struct gmon_cursor {
	struct cursor bytes;
	struct gmon_words words;
};

static uint64_t read_number(struct gmon_cursor *c, size_t size)
{
	const uint8_t *bytes = cursor_bytes(&c->bytes, size);

	return bytes ? word_read(bytes, size, c->words.is_big_endian) : 0;
}

static uint64_t read_address(struct gmon_cursor *c)
{
	return read_number(c, c->words.size);
}

static struct str read_dimension(struct gmon_cursor *c)
{
	const char *text = (const char *)cursor_bytes(&c->bytes, DIMENSION_SIZE);

	cursor_skip(&c->bytes, 1); /* its abbreviation */
	return text ? (struct str){text, strnlen(text, DIMENSION_SIZE)} : STR("");
}

static void read_histogram(struct gmon_cursor *c, struct gmon_file *file)
{
	struct gmon_histogram h = {.low = read_address(c), .high = read_address(c)};

	h.bin_count = (uint32_t)read_number(c, 4);
	h.rate = (uint32_t)read_number(c, 4);
	h.dimension = read_dimension(c);
	if (cursor_ok(&c->bytes) && (h.rate == 0 || h.rate > RATE_MAX))
		cursor_fail(&c->bytes, "a histogram with an impossible number of ticks a second");
	if (h.low > h.high || (h.low == h.high && h.bin_count))
		cursor_fail(&c->bytes, "a histogram of no addresses");
	h.ticks = cursor_bytes(&c->bytes, (uint64_t)h.bin_count * BIN_SIZE);
	if (!cursor_ok(&c->bytes) || h.bin_count == 0)
		return;
	if (file->histograms.count < GMON_HISTOGRAMS_MAX)
		vec_push(&file->histograms, h);
	else
		file->histograms_over++;
}

static void read_arc(struct gmon_cursor *c, struct gmon_file *file)
{
	struct gmon_arc arc = {.from = read_address(c), .self = read_address(c)};

	arc.calls = (uint32_t)read_number(c, 4);
	if (cursor_ok(&c->bytes))
		vec_push(&file->arcs, arc);
}

/* An address and a count each. */
static void read_blocks(struct gmon_cursor *c, struct gmon_file *file)
{
	uint64_t count = read_number(c, 4);

	cursor_skip(&c->bytes, count * 2 * c->words.size);
	if (cursor_ok(&c->bytes))
		file->block_count += count;
}

static void read_record(struct gmon_cursor *c, struct gmon_file *file)
{
	switch (cursor_u8(&c->bytes)) {
	case TAG_HISTOGRAM:
		read_histogram(c, file);
		break;
	case TAG_ARC:
		read_arc(c, file);
		break;
	case TAG_BLOCKS:
		read_blocks(c, file);
		break;
	default:
		cursor_fail(&c->bytes, "a record of unknown kind");
		break;
	}
}

static struct error *read_header(struct gmon_cursor *c, const char *name)
{
	const uint8_t *magic = cursor_bytes(&c->bytes, 4);
	uint64_t version = read_number(c, 4);

	cursor_skip(&c->bytes, HEADER_SIZE - 8);
	if (!cursor_ok(&c->bytes) || memcmp(magic, "gmon", 4) != 0)
		return error_new(ERROR_INPUT, "%s: not a gmon.out file", name);
	if (version == 1)
		return NULL;
	if (version == 1u << 24)
		return error_new(ERROR_INPUT,
			"%s: written by a program of the other byte order than that of --exe",
			name);
	return error_new(ERROR_UNSUPPORTED, "%s: a gmon.out file of version %u, not of 1", name,
		(unsigned int)version);
}

struct error *gmon_file_read(struct gmon_file *file, const uint8_t *data, size_t size,
	struct gmon_words words, const char *name)
{
	struct gmon_cursor c = {.words = words};
	uint64_t begin = HEADER_SIZE;

	*file = (struct gmon_file){.words = words};
	cursor_init(&c.bytes, data, size, name, 0);
	struct error *err = read_header(&c, name);
	if (err)
		return err;
	while (cursor_ok(&c.bytes) && !cursor_at_end(&c.bytes)) {
		begin = cursor_offset(&c.bytes);
		read_record(&c, file);
	}
	if (cursor_ok(&c.bytes))
		return NULL;
	if (begin == HEADER_SIZE)
		return error_input(name, begin, "%s; is it of another program than --exe names?",
			c.bytes.problem);
	file->problem = c.bytes.problem;
	file->problem_offset = begin;
	return NULL;
}

void gmon_file_deinit(struct gmon_file *file)
{
	vec_deinit(&file->histograms);
	vec_deinit(&file->arcs);
}
