/*
 * The code that a page carries, on any bytes: it is read, or refused with an error; and whatever
 * was read, each function's listing is JSON.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/json_reader.h"
#include "code/annotate_session.h"
#include "code/carried_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Functions of the seed: one with lines and an address, one without any place. */
static const char profile_text[] = "sonde-dump 1\nmetric \"cpu\" \"ns\" default\n"
				   "object user \"/bin/app\"\n"
				   "function \"main\" object \"/bin/app\" file \"/a.c\" line 1\n"
				   "frame file \"/a.c\" line 2 addr 0x1004\n"
				   "frame file \"/a.c\" line 3 addr 0x1010\n"
				   "function \"other\"\nframe\n"
				   "stack 0\nstack 1 \"main\" 5\nstack 2 \"main\" 3\n"
				   "stack 2 \"other\" 2\nend\n";

static struct session *profile_session(void)
{
	static struct session *session;
	const struct reader_input input = {
		.name = "p", .data = (const uint8_t *)profile_text, .size = strlen(profile_text)};
	struct error *err = session ? NULL : session_open_bytes(&input, "dump", &session);

	assert(err == NULL);
	return session;
}

static void check_json(const struct strbuf *text)
{
	struct json_reader r;
	struct str key;

	json_reader_init(&r, text->data, text->size, "listing");
	assert(json_object(&r));
	while (json_key(&r, &key))
		json_skip(&r);
	assert(json_ok(&r));
	json_reader_deinit(&r);
}

static void check_function(const struct carried_code *code, const char *name)
{
	const struct annotate_wanted wanted = {.code = &carried_code_provider,
		.data = code,
		.without_source = !carried_code_has_source(code),
		.without_instructions = !carried_code_has_instructions(code)};
	const struct text_style style = {0};
	struct question question = question_default();
	struct annotated *annotated;
	struct sink sink;
	struct error *err = question_put(&question, "format", "json");

	if (err == NULL)
		err = annotate_settle(&question);
	if (err == NULL)
		err = annotate_ask(
			profile_session(), &question, &wanted, str_from(name), &annotated);
	assert(err == NULL);
	sink_init_memory(&sink);
	answer_draw(annotated->answer, &style, &sink);
	check_json(&sink.text);
	strbuf_deinit(&sink.text);
	annotated_destroy(annotated);
	question_deinit(&question);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct carried_code *code = NULL;
	struct error *err = carried_code_read(data, size, &code);

	assert((err == NULL) == (code != NULL));
	error_destroy(err);
	if (code) {
		check_function(code, "main");
		check_function(code, "other");
	}
	carried_code_destroy(code);
	return 0;
}
