/* Lines of bounded length, in one buffer whose taken part is dropped before the next read. */
#include "serve/lines.h"

#include <errno.h>
#include <unistd.h>

#define READ_BYTES 65536u

void lines_deinit(struct lines *l)
{
	strbuf_deinit(&l->bytes);
}

static void drop_taken(struct lines *l)
{
	size_t rest = l->bytes.size - l->taken;

	if (l->taken == 0)
		return;
	memmove(l->bytes.data, l->bytes.data + l->taken, rest + 1);
	l->bytes.size = rest;
	l->taken = 0;
}

void lines_feed(struct lines *l, struct str bytes)
{
	drop_taken(l);
	strbuf_add(&l->bytes, bytes);
}

void lines_read(struct lines *l, int fd)
{
	char bytes[READ_BYTES];
	ssize_t size = read(fd, bytes, sizeof(bytes));

	if (size > 0)
		lines_feed(l, (struct str){bytes, (size_t)size});
	else if (size == 0 || (errno != EINTR && errno != EAGAIN))
		l->is_at_end = true;
}

/* The rest of a line that is too long: all that is there, or up to its end. */
static bool skip(struct lines *l, const char *end)
{
	l->taken = end ? (size_t)(end - l->bytes.data) + 1 : l->bytes.size;
	if (end)
		l->is_skipping = false;
	return end != NULL;
}

enum lines_kind lines_next(struct lines *l, struct str *line)
{
	for (;;) {
		struct str rest = {l->bytes.data + l->taken, l->bytes.size - l->taken};
		const char *end = rest.size ? memchr(rest.data, '\n', rest.size) : NULL;
		size_t size = end ? (size_t)(end - rest.data) : rest.size;

		if (l->is_skipping) {
			if (!skip(l, end))
				return LINES_NONE;
			continue;
		}
		if (size > l->max) {
			l->is_skipping = true;
			return LINES_TOO_LONG;
		}
		/* The last line may have no end. */
		if (end == NULL && !(l->is_at_end && rest.size))
			return LINES_NONE;
		l->taken += size + (end != NULL);
		*line = (struct str){rest.data, size};
		return LINES_LINE;
	}
}
