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

struct strbuf writer_text(const struct writer *writer, const struct profile *profile,
	const struct writer_options *options)
{
	FILE *file = scratch_file();
	struct strbuf text = {0};
	struct sink sink;
	char part[4096];
	size_t got;

	sink_init(&sink, fileno(file), "scratch");
	if (writer->write(&sink, profile, options) || sink_finish(&sink))
		abort();
	rewind(file);
	strbuf_reserve(&text, 1);
	strbuf_clear(&text);
	while ((got = fread(part, 1, sizeof(part), file)) > 0)
		strbuf_add(&text, (struct str){part, got});
	return text;
}
