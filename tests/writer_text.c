/*
 * Writers put out to a file descriptor: here that of an unlinked file, made once.
 */
#include "writer_text.h"

#include <stdio.h>
#include <stdlib.h>
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
