/*
 * Names and labels of Pyroscope's clients, as its server reads them: api/model/labelset and
 * pkg/og/util/attime of github.com/grafana/pyroscope (2.x).
 */
#include "intake/pyroscope_name.h"

#include "base/clock.h"
#include "base/compiler.h"

static bool is_label_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || char_is_digit(c) || c == '_' ||
	       c == '.';
}

static bool is_app_char(char c)
{
	return is_label_char(c) || c == '-' || c == '/';
}

static bool is_of(struct str s, bool (*is_char)(char))
{
	for (size_t i = 0; i < s.size; i++)
		if (!is_char(s.data[i]))
			return false;
	return s.size > 0;
}

const char *pyroscope_name_add(struct pyroscope_name *name, struct intake_label label)
{
	if (str_starts_with(label.key, STR("__")) || label.key.size > INTAKE_TEXT_MAX ||
		label.value.size > INTAKE_TEXT_MAX)
		return NULL;
	if (!is_of(label.key, is_label_char))
		return "a label's name is empty, or has a character other than a-z, A-Z, 0-9, '_' "
		       "and '.'";
	if (name->label_count == PYROSCOPE_LABELS_MAX)
		return "more than 128 labels";
	name->labels[name->label_count++] = label;
	return NULL;
}

/* Takes the text up to one of two characters, and removes that one; *end: which; 0: neither. */
static struct str take_until(struct str *rest, char a, char b, char *end)
{
	struct str part = {rest->data, 0};

	while (part.size < rest->size && part.data[part.size] != a && part.data[part.size] != b)
		part.size++;
	bool found = part.size < rest->size;

	*end = found ? part.data[part.size] : '\0';
	*rest = (struct str){rest->data + part.size + found, rest->size - part.size - found};
	return part;
}

const char *pyroscope_name_read(struct str text, struct pyroscope_name *name)
{
	struct str rest = text;
	char end;

	*name = (struct pyroscope_name){.app = str_trim(take_until(&rest, '{', '{', &end))};
	if (name->app.size > INTAKE_TEXT_MAX)
		return "name is longer than 4096 bytes";
	if (!is_of(name->app, is_app_char))
		return "name is missing, or has a character other than a-z, A-Z, 0-9, '_', '.', "
		       "'-' and '/' before its labels";
	while (end && rest.size) {
		struct intake_label label;
		const char *problem;

		label.key = take_until(&rest, '=', '}', &end);
		if (end != '=')
			break;
		label.key = str_trim(label.key);
		label.value = take_until(&rest, ',', '}', &end);
		/* A label without its end is ignored. */
		if (end == '\0')
			break;
		label.value = str_trim(label.value);
		problem = pyroscope_name_add(name, label);
		if (problem)
			return problem;
	}
	return NULL;
}

/* Removes a label and returns its value; size 0: there is none. */
static struct str take_label(struct pyroscope_name *name, struct str key)
{
	for (size_t i = 0; i < name->label_count; i++) {
		struct str value = name->labels[i].value;

		if (!str_equal(name->labels[i].key, key) || value.size == 0)
			continue;
		name->label_count--;
		memmove(&name->labels[i], &name->labels[i + 1],
			(name->label_count - i) * sizeof(*name->labels));
		return value;
	}
	return STR("");
}

struct intake_origin pyroscope_name_origin(struct pyroscope_name *name, const char *protocol)
{
	static const struct str hosts[] = {
		STR("hostname"), STR("host"), STR("host_name"), STR("host.name")};
	struct intake_origin origin = {.protocol = protocol, .host = STR("")};

	origin.service = take_label(name, STR("service_name"));
	if (origin.service.size == 0)
		origin.service = name->app;
	for (size_t i = 0; i < ARRAY_SIZE(hosts) && origin.host.size == 0; i++)
		origin.host = take_label(name, hosts[i]);
	origin.labels = name->labels;
	origin.label_count = name->label_count;
	return origin;
}

struct str pyroscope_name_take_kind(struct pyroscope_name *name)
{
	static const struct str kinds[] = {STR("cpu"), STR("wall"), STR("itimer"),
		STR("inuse_objects"), STR("inuse_space"), STR("alloc_objects"), STR("alloc_space"),
		STR("goroutines"), STR("mutex_count"), STR("mutex_duration"), STR("block_count"),
		STR("block_duration"), STR("alloc_in_new_tlab_objects"),
		STR("alloc_in_new_tlab_bytes"), STR("alloc_outside_tlab_objects"),
		STR("alloc_outside_tlab_bytes"), STR("lock_count"), STR("lock_duration"),
		STR("live"), STR("exceptions")};
	const char *dot = memrchr(name->app.data, '.', name->app.size);
	size_t before = dot ? (size_t)(dot - name->app.data) : 0;

	if (before == 0)
		return STR("");
	struct str kind = {dot + 1, name->app.size - before - 1};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (str_equal(kind, kinds[i])) {
			name->app.size = before;
			return kind;
		}
	return STR("");
}

uint64_t pyroscope_time_ns(const char *text)
{
	struct str s = str_trim(str_from(text));
	uint64_t number = 0;

	if (s.size == 0 || s.size > 19)
		return 0;
	for (size_t i = 0; i < s.size; i++) {
		if (!char_is_digit(s.data[i]))
			return 0;
		number = number * 10 + (uint64_t)(s.data[i] - '0');
	}
	if (s.size == 19)
		return number;
	if (s.size == 16)
		return number * 1000;
	if (s.size == 13)
		return number * 1000000;
	return s.size <= 10 ? number * SECOND_NS : 0;
}
