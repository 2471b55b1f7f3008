/*
 * Writers put out to a file descriptor: here that of an unlinked file, made once.
 */
#include "writer_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *scratch_file(void)
{
	static FILE *file;

	if (file == NULL)
		file = tmpfile();
	if (file == NULL || fseek(file, 0, SEEK_SET) != 0 || ftruncate(fileno(file), 0) != 0)
		abort();
	return file;
}

static void read_back(FILE *file, struct strbuf *text)
{
	char part[4096];
	size_t got;

	rewind(file);
	strbuf_reserve(text, 1);
	strbuf_clear(text);
	while ((got = fread(part, 1, sizeof(part), file)) > 0)
		strbuf_add(text, (struct str){part, got});
}

struct error *writer_try(const struct writer *writer, const struct profile *profile,
	const struct writer_options *options, struct strbuf *text)
{
	FILE *file = scratch_file();
	struct sink sink;

	sink_init(&sink, fileno(file), "scratch");
	struct error *err = writer->write(&sink, profile, options);
	if (sink_finish(&sink))
		abort();
	if (err == NULL)
		read_back(file, text);
	return err;
}

struct strbuf writer_text(const struct writer *writer, const struct profile *profile,
	const struct writer_options *options)
{
	struct strbuf text = {0};

	if (writer_try(writer, profile, options, &text))
		abort();
	return text;
}

/* The size of an escaped backslash at `at`; 0: none. */
static size_t backslash_at(const char *at)
{
	return strncmp(at, "\\x5c", 4) == 0 ? 4 : 0;
}

/* The size of an escaped byte or character from 80 to ff. */
static size_t high_at(const char *at)
{
	if (strncmp(at, "\\x", 2) == 0 && at[2] && strchr("89abcdef", at[2]))
		return 4;
	return strncmp(at, "\\u{00", 5) == 0 ? 8 : 0;
}

static void replace(struct strbuf *text, size_t (*size_at)(const char *at), struct str by)
{
	size_t to = 0;

	for (size_t from = 0; from < text->size;) {
		size_t size = size_at(text->data + from);

		if (size) {
			memcpy(text->data + to, by.data, by.size);
			to += by.size;
			from += size;
		} else {
			text->data[to++] = text->data[from++];
		}
	}
	text->size = to;
	text->data[to] = '\0';
}

void folded_for_people(struct strbuf *text)
{
	replace(text, backslash_at, STR("\\"));
	replace(text, high_at, STR("\xef\xbf\xbd"));
}
