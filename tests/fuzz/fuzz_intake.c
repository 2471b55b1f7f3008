/*
 * Bodies that arrive over HTTP: whatever the bytes are, the request is answered, and each profile
 * that is kept is whole.
 *
 * The first byte of an input says which path and type, the rest of its first line is the parameter
 * `name`, or for a form the Content-Type, and the body follows.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/json_reader.h"
#include "formats/readers.h"
#include "intake/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct error *keep(
	void *context, struct profile *profile, const struct intake_origin *origin)
{
	uint64_t *kept = context;
	size_t bytes = 0;

	assert(origin->service.size > 0);
	assert(origin->end_unix_ns >= origin->start_unix_ns);
	for (size_t i = 0; i < origin->label_count; i++)
		bytes += origin->labels[i].key.size + origin->labels[i].value.size;
	*kept += bytes + profile->metric_count;
	profile_destroy(profile);
	return NULL;
}

static void check_json(const struct strbuf *text)
{
	struct json_reader r;
	struct str key;

	json_reader_init(&r, text->data, text->size, "answer");
	assert(json_object(&r));
	while (json_key(&r, &key))
		json_skip(&r);
	assert(json_ok(&r));
	json_reader_deinit(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct {
		enum intake_path path;
		const char *type, *format, *units;
	} kinds[] = {{INTAKE_OTLP, "application/x-protobuf", NULL, NULL},
		{INTAKE_OTLP, "application/json", NULL, NULL},
		{INTAKE_INGEST, NULL, NULL, NULL}, /* a form: the line is the type */
		{INTAKE_INGEST, "text/plain", "folded", "bytes"},
		{INTAKE_INGEST, "text/plain", "lines", "samples"},
		{INTAKE_INGEST, "application/octet-stream", "pprof", NULL},
		{INTAKE_INGEST, "application/json", "speedscope", NULL},
		{INTAKE_PUSH, "application/proto", NULL, NULL},
		{INTAKE_PUSH, "application/json", NULL, NULL}};
	uint64_t kept = 0;
	const struct intake_options options = {.keep = keep, .context = &kept, .body_max = 1 << 20};
	struct str rest = {(const char *)data, size};
	struct intake_answer answer;

	if (size == 0)
		return 0;
	size_t kind = data[0] % (sizeof(kinds) / sizeof(*kinds));

	rest = (struct str){rest.data + 1, rest.size - 1};
	struct str line = str_take_line(&rest);
	char *text = xstrndup(line.data, line.size);
	const struct intake_message message = {.path = kinds[kind].path,
		.type = kinds[kind].type ? str_from(kinds[kind].type) : line,
		.body = rest,
		.ingest = {.name = kinds[kind].type ? text : "app",
			.format = kinds[kind].format,
			.from = text,
			.until = text,
			.sample_rate = text,
			.units = kinds[kind].units}};

	intake_take(&options, &message, &answer);
	assert(answer.status == 200 || (answer.status >= 400 && answer.text.size));
	assert(answer.type && (answer.kept == 0) == (kept == 0));
	if (strcmp(answer.type, "application/json") == 0)
		check_json(&answer.text);
	strbuf_deinit(&answer.text);
	free(text);
	return 0;
}
