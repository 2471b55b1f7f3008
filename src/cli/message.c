/*
 * Messages: one write(2) each, so that lines of sonde and of the program it runs, which share a
 * terminal, do not mix within a line.  Errors are ignored: if standard error is closed or full,
 * there is nowhere to report them.
 */

#include "cli/message.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/str.h"

static void message_put(struct str text, struct str detail)
{
	struct strbuf line = {0};
	int saved_errno = errno;

	strbuf_add(&line, STR("sonde: "));
	escape_text(&line, text);
	strbuf_add_char(&line, '\n');
	while (detail.size > 0) {
		strbuf_add(&line, STR("    "));
		escape_text(&line, str_take_line(&detail));
		strbuf_add_char(&line, '\n');
	}
	error_destroy(file_write_all(STDERR_FILENO, line.data, line.size, "standard error"));
	strbuf_deinit(&line);
	errno = saved_errno;
}

void message_print(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	message_put(str_from(text), (struct str){0});
	free(text);
}

void message_error(struct error *err)
{
	message_put(str_from(err->message), str_from(err->detail));
	error_destroy(err);
}
