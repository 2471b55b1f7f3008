/*
 * lisp FILE...: evaluates the files' expressions, one after the other.
 */

#include "lisp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void fail(const char *message, const struct cell *about)
{
	fflush(stdout);
	fprintf(stderr, "lisp: %s%s", message, about ? " " : "");
	if (about)
		print_cell(stderr, about);
	fputc('\n', stderr);
	exit(1);
}

/* The whole of a file, NUL-terminated; NULL and errno where it cannot be read. */
static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;
	ssize_t got;

	if (!file)
		return NULL;
	got = getdelim(&text, &size, 0, file);
	fclose(file);
	return got < 0 ? strdup("") : text;
}

static void run_text(const char *text)
{
	struct cell *expression;

	while ((expression = read_expression(&text)) != NULL)
		eval(expression, nil);
}

int main(int argc, char **argv)
{
	heap_init(__builtin_frame_address(0));
	define_forms();
	define_builtins();
	for (int i = 1; i < argc; i++) {
		char *text = read_file(argv[i]);

		if (!text) {
			fprintf(stderr, "lisp: %s: %s\n", argv[i], strerror(errno));
			return 1;
		}
		run_text(text);
		free(text);
	}
	return 0;
}
