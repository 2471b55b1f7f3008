/*
 * Readings of names.  Behind a scope means behind "::", or behind the blank after a return type.
 */
#include "analysis/name_reading.h"

/* Whether a name may end before its arguments, or template arguments, there. */
static bool ends_at(struct str name, size_t at)
{
	return at == name.size || name.data[at] == '(' || name.data[at] == '<';
}

/* Whether the name proper begins there: behind a scope, or behind the type that it returns. */
static bool begins_at(struct str name, size_t at)
{
	return name.data[at - 1] == ' ' ||
	       (at >= 2 && name.data[at - 1] == ':' && name.data[at - 2] == ':');
}

/* Where arguments begin; "(anonymous namespace)" is a scope. */
size_t name_arguments_at(struct str name)
{
	static const struct str scope = STR("(anonymous namespace)");

	for (size_t i = 0; i < name.size; i++) {
		struct str rest = {name.data + i, name.size - i};

		if (name.data[i] != '(')
			continue;
		if (!str_starts_with(rest, scope))
			return i;
		i += scope.size - 1;
	}
	return name.size;
}

enum reading name_reading(struct str name, struct str wanted)
{
	size_t end;

	if (str_equal(name, wanted))
		return READING_WHOLE;
	if (wanted.size == 0 || wanted.size > name.size)
		return READING_NONE;
	if (str_starts_with(name, wanted) && ends_at(name, wanted.size))
		return READING_NO_ARGUMENTS;
	end = name_arguments_at(name);
	for (size_t at = 1; at + wanted.size <= end; at++)
		if (memcmp(name.data + at, wanted.data, wanted.size) == 0 && begins_at(name, at) &&
			ends_at(name, at + wanted.size))
			return READING_NO_SCOPE;
	return READING_NONE;
}
