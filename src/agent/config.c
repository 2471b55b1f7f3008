/*
 * Values are not quoted, as in systemd's environment-free directives: a value is the rest of the
 * line without the blanks around it.
 */
#include "agent/config.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/str.h"

#define CONFIG_BYTES_MAX ((uint64_t)1 << 20)

static struct error *take_line(struct str line,
	struct error *(*set)(void *context, const char *name, const char *value), void *context)
{
	const char *equals = memchr(line.data, '=', line.size);
	struct str name = line, value = STR("");

	if (equals) {
		name.size = (size_t)(equals - line.data);
		value = str_trim((struct str){equals + 1, line.size - name.size - 1});
	}
	name = str_trim(name);
	if (name.size == 0)
		return error_new(ERROR_USAGE, "expected a name before the '='");
	if (memchr(line.data, '\0', line.size))
		return error_new(ERROR_USAGE, "expected text, found a NUL byte");
	char *name_text = xstrndup(name.data, name.size);
	char *value_text = equals ? xstrndup(value.data, value.size) : NULL;
	struct error *err = set(context, name_text, value_text);

	free(name_text);
	free(value_text);
	return err;
}

struct error *config_read(const char *path,
	struct error *(*set)(void *context, const char *name, const char *value), void *context)
{
	struct file_bytes bytes;
	struct error *err = file_read(path, CONFIG_BYTES_MAX, &bytes);

	if (err)
		return err;
	struct str rest = {(const char *)bytes.data, bytes.size};

	for (size_t number = 1; rest.size > 0 && !err; number++) {
		struct str line = str_trim(str_take_line(&rest));

		if (line.size == 0 || line.data[0] == '#')
			continue;
		err = take_line(line, set, context);
		if (err)
			err = error_prefix(err, "%s: line %zu", path, number);
	}
	file_bytes_deinit(&bytes);
	return err;
}
