/*
 * The reader of one format, FUZZ_READER, on any bytes: no crash, and what it accepts is a whole
 * profile (the builder checks that).  Each writer can write it, or says why not, and what the
 * format's own reader makes of that is a whole profile again.
 *
 * One writer an input, chosen by its size: mutants are of many sizes.
 */
#include <stdlib.h>

#include "../writer_text.h"
#include "formats/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The cases must be alike in every run: no cache of symbols, no kernel's names. */
__attribute__((constructor)) static void forget_machine(void)
{
	setenv("XDG_CACHE_HOME", "/nonexistent", 1);
}

static struct profile *read_as(const char *format, const void *data, size_t size)
{
	struct reader_input input = {.name = "input", .data = data, .size = size};
	struct profile *p = NULL;

	error_destroy(profile_read_bytes(&input, format, &p));
	return p;
}

static const struct writer *pick_writer(size_t size)
{
	size_t count = 0;

	while (writers[count])
		count++;
	return writers[size % count];
}

static void write_and_read(const struct profile *p, const struct writer *writer)
{
	struct writer_options options = {.metric = p->default_metric, .with_modules = true};
	struct strbuf text = {0};
	struct error *err = writer_try(writer, p, &options, &text);

	if (err == NULL && text.size && reader_find(writer->name))
		profile_destroy(read_as(writer->name, text.data, text.size));
	error_destroy(err);
	strbuf_deinit(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	struct profile *p = read_as(FUZZ_READER, data, size);

	for (size_t i = 0; readers[i]; i++)
		if (readers[i]->bid)
			(void)readers[i]->bid(data, size);
	if (p)
		write_and_read(p, pick_writer(size));
	profile_destroy(p);
	return 0;
}
