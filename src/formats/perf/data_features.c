/*
 * The features of a perf.data file: strings are stored with their length, padded, and
 * NUL-terminated.
 *
 * Source: tools/perf/Documentation/perf.data-file-format.txt.
 */
#include "formats/perf/data_file.h"

static struct str read_string(struct cursor *c)
{
	uint32_t size = cursor_u32(c);
	const uint8_t *bytes = cursor_bytes(c, size);

	if (bytes == NULL)
		return STR("");
	return (struct str){(const char *)bytes, strnlen((const char *)bytes, size)};
}

/* Joins the words with a space. */
static void read_command(struct perf_data_file *file, struct cursor *c)
{
	struct strbuf line = {0};
	uint32_t count = cursor_u32(c);

	for (uint32_t i = 0; i < count; i++) {
		struct str word = read_string(c);
		if (!cursor_ok(c))
			break;
		strbuf_add(&line, i ? STR(" ") : STR(""));
		strbuf_add(&line, word);
	}
	file->facts.command = arena_str(file->arena, strbuf_str(&line));
	strbuf_deinit(&line);
}

/* Reads attributes again, here with names; ids show which events they are. */
static void read_event_names(struct perf_data_file *file, struct cursor *c)
{
	uint32_t count = cursor_u32(c), attr_size = cursor_u32(c);

	for (uint32_t i = 0; i < count && cursor_ok(c); i++) {
		cursor_skip(c, attr_size);
		uint32_t id_count = cursor_u32(c);
		struct str name = read_string(c);
		uint64_t id = id_count ? cursor_u64(c) : 0;
		if (id_count > 1)
			cursor_skip(c, (id_count - 1) * sizeof(uint64_t));
		if (!cursor_ok(c))
			return;
		if (id)
			perf_data_events_name(&file->events, id, name);
		else if (i < file->events.rows.count)
			file->events.rows.data[i].name = arena_str(file->arena, name);
	}
}

static void read_clock_data(struct perf_data_file *file, struct cursor *c)
{
	cursor_skip(c, 8); /* version, clock id */
	uint64_t wall_ns = cursor_u64(c), clock_ns = cursor_u64(c);

	if (!cursor_ok(c))
		return;
	file->facts.wall_ns = wall_ns;
	file->facts.clock_ns = clock_ns;
}

/*
 * Reads the names and values of a processor's PMU capabilities.  Only the number of branches that
 * it records is needed.
 */
static void read_abilities(struct perf_data_file *file, struct cursor *c)
{
	uint32_t count = cursor_u32(c);

	for (uint32_t i = 0; i < count && cursor_ok(c); i++) {
		struct str name = read_string(c), value = read_string(c);
		uint64_t depth = 0;

		if (!str_equal(name, STR("branches")))
			continue;
		for (size_t k = 0; k < value.size && value.data[k] >= '0' && value.data[k] <= '9' &&
				   depth < UINT16_MAX;
			k++)
			depth = depth * 10 + (uint64_t)(value.data[k] - '0');
		file->facts.branch_depth = (uint32_t)depth;
	}
}

/* The same for several kinds of cores, each with a name; the largest number counts. */
static void read_all_abilities(struct perf_data_file *file, struct cursor *c)
{
	uint32_t count = cursor_u32(c), depth = 0;

	for (uint32_t i = 0; i < count && cursor_ok(c); i++) {
		read_abilities(file, c);
		read_string(c);
		depth = file->facts.branch_depth > depth ? file->facts.branch_depth : depth;
	}
	file->facts.branch_depth = depth;
}

static void read_build_ids(struct perf_data_file *file, struct cursor *c)
{
	struct perfstream_record record;

	while (perfstream_record_at(c->at, cursor_left(c), file->is_swapped, &record)) {
		perf_data_read_build_id(file, &record);
		cursor_skip(c, record.size);
	}
}

/* The length of a build ID without trailing zeros. */
static size_t unpadded_size(const uint8_t *bytes, size_t size)
{
	static const uint8_t zeros[4];

	while (size >= sizeof(zeros) && memcmp(bytes + size - sizeof(zeros), zeros, 4) == 0)
		size -= sizeof(zeros);
	return size;
}

void perf_data_read_build_id(struct perf_data_file *file, const struct perfstream_record *record)
{
	enum { ID_SIZE = 20, PADDED_SIZE = 24 };
	struct cursor c = perfstream_body(record);
	char hex[41];

	cursor_skip(&c, 4); /* the pid, for guests */
	const uint8_t *bytes = cursor_bytes(&c, PADDED_SIZE);
	struct str path = cursor_string(&c);

	if (!cursor_ok(&c) || path.size == 0)
		return;
	bool is_sized = record->misc & PERF_DATA_MISC_BUILD_ID_SIZE;

	perfstream_build_id(bytes, is_sized ? bytes[ID_SIZE] : unpadded_size(bytes, ID_SIZE), hex);
	uint32_t place = str_table_intern(&file->build_ids.paths, path);
	if (place == file->build_ids.ids.count)
		vec_push(&file->build_ids.ids, arena_str(file->arena, str_from(hex)));
}

struct str perf_data_find_build_id(const struct perf_data_file *file, struct str path)
{
	uint32_t place;

	return str_table_find(&file->build_ids.paths, path, &place)
		       ? file->build_ids.ids.data[place]
		       : STR("");
}

void perf_data_feature(struct perf_data_file *file, uint64_t feature, struct cursor c)
{
	struct str *string = NULL;

	switch (feature) {
	case PERF_DATA_FEATURE_BUILD_ID:
		read_build_ids(file, &c);
		break;
	case PERF_DATA_FEATURE_HOSTNAME:
		string = &file->facts.host;
		break;
	case PERF_DATA_FEATURE_OS_RELEASE:
		string = &file->facts.os_release;
		break;
	case PERF_DATA_FEATURE_ARCH:
		string = &file->facts.arch;
		break;
	case PERF_DATA_FEATURE_COMMAND:
		read_command(file, &c);
		break;
	case PERF_DATA_FEATURE_EVENT_DESC:
		read_event_names(file, &c);
		break;
	case PERF_DATA_FEATURE_DIR_FORMAT:
		file->facts.folder_version = cursor_u64(&c);
		break;
	case PERF_DATA_FEATURE_CPU_PMU_CAPS:
		read_abilities(file, &c);
		break;
	case PERF_DATA_FEATURE_PMU_CAPS:
		read_all_abilities(file, &c);
		break;
	case PERF_DATA_FEATURE_CLOCK_DATA:
		read_clock_data(file, &c);
		break;
	default: /* not needed */
		break;
	}
	if (string)
		*string = arena_str(file->arena, read_string(&c));
}
