/*
 * Suppressed leaks, by LeakSanitizer's patterns: a pattern is found anywhere in a name, but '^'
 * ties it to the beginning and '$' to the end; '*' is any run of bytes.
 *
 * Source: "Suppressions" of the LeakSanitizer documentation; which leaks heaptrack suppresses by
 * itself is told by heaptrack_print --print-suppressions.
 */
#include "formats/heap/heaptrack_suppressions.h"

#include "base/vec.h"
#include "formats/common/text_field.h"

/* Each is looked for in each name: no file may make that a square. */
#define PATTERNS_MAX 64

static const char *const built_in[] = {
	"__nss_module_allocate",
	"__gconv_read_conf",
	"__new_exitfn",
	"tzset_internal",
	"dl_open_worker",
	"g_main_context_new",
	"g_thread_self",
};

void heaptrack_suppressions_init(struct heaptrack_suppressions *s)
{
	*s = (struct heaptrack_suppressions){0};
	for (size_t i = 0; i < ARRAY_SIZE(built_in); i++)
		vec_push(s, str_from(built_in[i]));
}

void heaptrack_suppressions_deinit(struct heaptrack_suppressions *s)
{
	vec_deinit(s);
}

void heaptrack_suppressions_add(struct heaptrack_suppressions *s, struct str line)
{
	struct str pattern = line;

	while (pattern.size && pattern.data[pattern.size - 1] <= ' ')
		pattern.size--;
	while (text_take(&pattern, STR(" ")))
		;
	if (!text_take(&pattern, STR("leak:")) || pattern.size == 0)
		return;
	if (s->count < PATTERNS_MAX)
		vec_push(s, pattern);
	else
		s->over++;
}

/* Up to the next '*', which is passed. */
static struct str take_part(struct str *pattern)
{
	const char *star = memchr(pattern->data, '*', pattern->size);
	struct str part = {pattern->data, star ? (size_t)(star - pattern->data) : pattern->size};
	size_t passed = part.size + (star != NULL);

	pattern->data += passed;
	pattern->size -= passed;
	return part;
}

static bool matches(struct str pattern, struct str name)
{
	bool at_start = text_take(&pattern, STR("^"));
	bool at_end = str_ends_with(pattern, STR("$"));

	pattern.size -= at_end;
	while (pattern.size) {
		struct str part = take_part(&pattern);
		bool is_last = pattern.size == 0 && part.data + part.size == pattern.data;
		if (at_end && is_last && part.size)
			return str_ends_with(name, part) && (!at_start || part.size == name.size);
		if (at_start && !str_starts_with(name, part))
			return false;
		const char *found =
			part.size ? memmem(name.data, name.size, part.data, part.size) : name.data;
		if (found == NULL)
			return false;
		name.size -= (size_t)(found - name.data) + part.size;
		name.data = found + part.size;
		at_start = false;
	}
	return true;
}

bool heaptrack_suppressions_match(const struct heaptrack_suppressions *s, struct str name)
{
	for (size_t i = 0; name.size && i < s->count; i++)
		if (matches(s->data[i], name))
			return true;
	return false;
}
