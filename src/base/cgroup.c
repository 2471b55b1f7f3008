/*
 * Control groups by name.  The group of a container ends in its id of 64 hexadecimal digits,
 * optionally between the name of the runtime and ".scope": "docker-ID.scope", "cri-containerd:ID",
 * "ID".
 */
#include "base/cgroup.h"

#include <string.h>

#include "base/compiler.h"

enum { ID_DIGITS = 64, ID_DIGITS_MIN = 12 };

static size_t count_digits(struct str s)
{
	size_t count = 0;

	while (count < s.size && memchr("0123456789abcdef", s.data[count], 16))
		count++;
	return count;
}

static bool is_container(struct str part, struct str name)
{
	size_t at = part.size;

	if (name.size < ID_DIGITS_MIN || count_digits(name) < name.size)
		return false;
	if (str_ends_with(part, STR(".scope")))
		at -= strlen(".scope");
	if (at < ID_DIGITS)
		return false;
	struct str id = {part.data + at - ID_DIGITS, ID_DIGITS};

	return count_digits(id) == ID_DIGITS && str_starts_with(id, name);
}

static bool is_unit(struct str part, struct str name)
{
	static const char *const kinds[] = {".service", ".scope", ".slice"};
	struct str kind = {part.data + name.size, part.size - name.size};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (str_equal(kind, str_from(kinds[i])))
			return true;
	return kind.size == 0;
}

static bool is_part(struct str part, struct str name)
{
	return (str_starts_with(part, name) && is_unit(part, name)) || is_container(part, name);
}

/* The path from the root, which may end in a slash. */
static bool is_below(struct str path, struct str name)
{
	while (name.size > 0 && name.data[name.size - 1] == '/')
		name.size--;
	return str_starts_with(path, name) &&
	       (path.size == name.size || path.data[name.size] == '/');
}

bool cgroup_is(struct str path, struct str name)
{
	if (name.size > 0 && name.data[0] == '/')
		return is_below(path, name);
	while (path.size > 0) {
		const char *slash = memchr(path.data, '/', path.size);
		size_t size = slash ? (size_t)(slash - path.data) : path.size;

		if (size > 0 && is_part((struct str){path.data, size}, name))
			return true;
		size += slash != NULL;
		path = (struct str){path.data + size, path.size - size};
	}
	return false;
}
