/*
 * The first pass over a Firefox profile reads only its structure: the positions of each process's
 * parts, which may be in any order, and the weights of its samples, because a profile's metrics
 * must come first.
 */
#include "formats/firefox/reader.h"

#include "base/bytes16.h"

/* Firefox nests once.  Each level is skipped once per enclosing level. */
#define LEVELS_MAX    8
#define PROCESSES_MAX 65536

bool firefox_is_whole(struct firefox *f)
{
	if (json_ok(&f->json))
		return true;
	if (json_is_cut(&f->json)) {
		f->is_cut = true;
		return false;
	}
	if (f->faults++ == 0) {
		f->fault_offset = (size_t)(f->json.bad - f->json.start);
		f->problem = f->json.problem;
	}
	return false;
}

/* Counts a byte. */
static size_t count_sign(const uint8_t *p, const uint8_t *end, uint8_t sign)
{
	enum { ROUNDS_MAX = 255 }; /* a byte counter would overflow */
	size_t count = 0;

	while (end - p >= 16) {
		bytes16 counts = {0};
		for (unsigned int i = 0; i < ROUNDS_MAX && end - p >= 16; i++, p += 16)
			counts -= (bytes16)(load16(p) == sign);
		for (unsigned int i = 0; i < 16; i++)
			count += counts[i];
	}
	for (; p < end; p++)
		count += *p == sign;
	return count;
}

/*
 * Skips the next array and returns its number of elements: commas for numbers, opening brackets for
 * rows.
 */
static size_t count_elements(struct json_reader *r, char sign)
{
	const uint8_t *begin = r->start + json_offset(r);

	if (json_peek(r) != JSON_ARRAY) {
		json_skip(r);
		return 0;
	}
	json_skip(r);
	size_t count = count_sign(begin, r->at, (uint8_t)sign);
	return count + (sign == ',') - (sign == '[' && count > 0);
}

struct samples_seen {
	size_t count;
	bool has_times, has_cpu;
	enum { WEIGH_SAMPLES, WEIGH_TRACING, WEIGH_BYTES } weighed;
};

static void scan_schema(struct json_reader *r, struct samples_seen *seen)
{
	static const char *const names[] = {"time", "threadCPUDelta"};
	uint8_t position[ARRAY_SIZE(names)];

	firefox_schema_read(r, names, ARRAY_SIZE(names), position);
	seen->has_times |= position[0] != FIREFOX_SCHEMA_MAX;
	seen->has_cpu |= position[1] != FIREFOX_SCHEMA_MAX;
}

static void scan_weight_type(struct json_reader *r, struct samples_seen *seen)
{
	struct str type;

	if (!json_string(r, &type))
		return;
	if (str_equal(type, STR("tracing-ms")))
		seen->weighed = WEIGH_TRACING;
	else if (str_equal(type, STR("bytes")))
		seen->weighed = WEIGH_BYTES;
}

static void scan_samples(struct firefox *f)
{
	struct json_reader *r = &f->json;
	struct samples_seen seen = {0};
	struct str key;

	if (!json_object(r))
		return;
	while (json_key(r, &key)) {
		bool is_array = json_peek(r) == JSON_ARRAY;
		if (str_equal(key, STR("stack")))
			seen.count = count_elements(r, ',');
		else if (str_equal(key, STR("data")))
			seen.count = count_elements(r, '[');
		else if (str_equal(key, STR("schema")))
			scan_schema(r, &seen);
		else if (str_equal(key, STR("weightType")))
			scan_weight_type(r, &seen);
		else if (str_equal(key, STR("time")) || str_equal(key, STR("timeDeltas")))
			seen.has_times |= is_array;
		else if (str_equal(key, STR("threadCPUDelta")))
			seen.has_cpu |= is_array;
	}
	f->scan.sample_count += seen.count;
	if (seen.count == 0)
		return;
	f->scan.sample_threads++;
	f->scan.has_cpu |= seen.has_cpu;
	f->scan.lacks_times |= !seen.has_times;
	f->scan.tracing += seen.weighed == WEIGH_TRACING ? seen.count : 0;
	f->scan.bytes += seen.weighed == WEIGH_BYTES ? seen.count : 0;
}

static void scan_threads(struct firefox *f)
{
	struct json_reader *r = &f->json;
	struct str key;

	if (!json_array(r))
		return;
	while (json_element(r)) {
		if (json_peek(r) != JSON_OBJECT) {
			f->scan.bad++;
			continue;
		}
		if (!json_object(r))
			return;
		while (json_key(r, &key))
			if (str_equal(key, STR("samples")))
				scan_samples(f);
	}
}

static void scan_subprocesses(struct firefox *f, unsigned int level)
{
	struct json_reader *r = &f->json;

	if (!json_array(r))
		return;
	while (json_element(r)) {
		if (level == LEVELS_MAX || f->scan.processes.count == PROCESSES_MAX ||
			json_peek(r) != JSON_OBJECT) {
			f->scan.bad++;
			continue;
		}
		vec_push(&f->scan.processes,
			(struct firefox_process){.at = json_offset(r), .level = level});
	}
}

static void scan_process(struct firefox *f, size_t index)
{
	struct firefox_process found = f->scan.processes.data[index];
	struct json_reader *r = &f->json;
	struct str key;

	json_seek(r, found.at);
	if (!json_object(r))
		return;
	while (json_key(r, &key)) {
		size_t at = json_offset(r);
		if (str_equal(key, STR("meta")))
			found.meta = at;
		else if (str_equal(key, STR("libs")))
			found.libs = at;
		else if (str_equal(key, STR("shared")))
			found.shared = at;
		else if (str_equal(key, STR("processes")))
			scan_subprocesses(f, found.level + 1);
		else if (str_equal(key, STR("threads")) && json_peek(r) == JSON_ARRAY) {
			found.threads = at;
			scan_threads(f);
		}
	}
	(void)firefox_is_whole(f);
	f->scan.processes.data[index] = found;
}

void firefox_scan(struct firefox *f, size_t root)
{
	vec_push(&f->scan.processes, (struct firefox_process){.at = root});
	for (size_t i = 0; i < f->scan.processes.count; i++)
		scan_process(f, i);
}

void firefox_scan_deinit(struct firefox_scan *s)
{
	vec_deinit(&s->processes);
}
