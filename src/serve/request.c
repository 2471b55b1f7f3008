/*
 * Requests become questions by question_put, so that there is one meaning of each option.
 */
#include "serve/request.h"

#include <string.h>

#include "base/escape.h"
#include "code/machine_code.h"
#include "formats/writers.h"
#include "page/page.h"
#include "session/comparison.h"

void request_init(struct request *r, enum request_kind kind, const struct served *served,
	enum brief_form form)
{
	*r = (struct request){.kind = kind,
		.served = served,
		.arena = arena_create(),
		.question = question_default()};
	r->question.is_difference = kind == REQUEST_DIFF;
	r->question.form = form;
}

void request_deinit(struct request *r)
{
	question_deinit(&r->question);
	arena_destroy(r->arena);
}

static struct error *put_flag(bool *flag, const char *name, const char *value)
{
	if (value)
		return error_new(ERROR_USAGE, "%s: takes no value", name);
	*flag = true;
	return NULL;
}

static struct error *put_file(
	const struct request *r, struct served_file **file, const char *name, const char *value)
{
	if (value == NULL)
		return error_new(ERROR_USAGE, "%s: expects a value", name);
	return served_find(r->served, value, file);
}

static struct error *put_selection(struct request *r, const char *value)
{
	if (value == NULL)
		return error_new(ERROR_USAGE, "select: expects a value");
	if (r->served->input.fetch == NULL)
		return error_new(ERROR_USAGE,
			"select: this server has files; `sonde serve --store` has selections");
	r->selection = value;
	return NULL;
}

/* Those that only a kind of request has; *is_own: it was one. */
static struct error *put_own(struct request *r, const char *name, const char *value, bool *is_own)
{
	bool is_diff = r->kind == REQUEST_DIFF, is_annotate = r->kind == REQUEST_ANNOTATE;

	*is_own = true;
	if (!is_diff && strcmp(name, "profile") == 0)
		return put_file(r, &r->file, name, value);
	if (is_diff && strcmp(name, "old") == 0)
		return put_file(r, &r->old_file, name, value);
	if (is_diff && strcmp(name, "new") == 0)
		return put_file(r, &r->new_file, name, value);
	if (is_diff && strcmp(name, "normalize") == 0)
		return put_flag(&r->normalize, name, value);
	if (is_annotate && strcmp(name, "source") == 0)
		return put_flag(&r->source, name, value);
	if (is_annotate && strcmp(name, "asm") == 0)
		return put_flag(&r->instructions, name, value);
	if (is_annotate && strcmp(name, "function") == 0) {
		if (value == NULL)
			return error_new(ERROR_USAGE, "function: expects a value");
		r->function = value;
		return NULL;
	}
	if (r->kind == REQUEST_SOURCE && strcmp(name, "file") == 0) {
		r->source_file = value;
		return NULL;
	}
	if (r->kind == REQUEST_RECORDING && strcmp(name, "select") == 0)
		return put_selection(r, value);
	*is_own = r->kind == REQUEST_RECORDING || r->kind == REQUEST_SOURCE;
	return *is_own ? error_new(ERROR_USAGE, "%s: unknown option", name) : NULL;
}

struct error *request_put(struct request *r, const char *name, const char *value)
{
	const char *kept = value ? arena_str(r->arena, str_from(value)).data : NULL;
	bool is_own;
	struct error *err = put_own(r, name, kept, &is_own);

	if (is_own || err)
		return err;
	return question_put(&r->question, name, kept);
}

/* How the next questions of a brief answer name the files. */
static void name_files(struct request *r)
{
	struct strbuf out = {0};
	bool is_diff = r->kind == REQUEST_DIFF;

	if (r->question.form != BRIEF_TOOLS)
		return;
	strbuf_add(&out, is_diff ? STR("\"old\": ") : STR("\"profile\": "));
	quote_json(&out, str_from(is_diff ? r->old_file->name : r->file->name));
	if (is_diff) {
		strbuf_add(&out, STR(", \"new\": "));
		quote_json(&out, str_from(r->new_file->name));
		strbuf_add(&out, r->normalize ? STR(", \"normalize\": true") : STR(""));
	}
	r->question.subject = arena_str(r->arena, strbuf_str(&out)).data;
	strbuf_deinit(&out);
}

static struct error *settle_files(struct request *r)
{
	struct error *err = NULL;

	if (r->kind == REQUEST_DIFF)
		return r->old_file && r->new_file
			       ? NULL
			       : error_new(ERROR_USAGE, "name two profiles, old and new");
	if (r->selection)
		return NULL;
	if (r->file == NULL)
		err = served_find(r->served, NULL, &r->file);
	return err ? err : served_open(r->served, r->file);
}

struct error *request_settle(struct request *r)
{
	struct error *err = settle_files(r);

	if (err)
		return err;
	name_files(r);
	if (r->kind == REQUEST_SOURCE && r->source_file == NULL)
		return error_new(ERROR_USAGE, "file: which one?");
	if (r->kind != REQUEST_ANNOTATE)
		return question_settle(&r->question);
	if (r->function == NULL)
		return error_new(ERROR_USAGE, "function: which one?");
	return annotate_settle(&r->question);
}

/* ---- answers ---- */

static void draw(const struct answer *answer, struct sink *sink, void (*begin)(struct sink *sink))
{
	static const struct text_style style = {.utf8 = true};

	begin(sink);
	answer_draw(answer, &style, sink);
}

static struct error *answer_report(
	struct request *r, struct sink *sink, void (*begin)(struct sink *sink))
{
	struct answer *answer;
	struct error *err = session_ask(r->file->session, &r->question, &answer);

	if (err)
		return err;
	draw(answer, sink, begin);
	answer_destroy(answer);
	return NULL;
}

/* Whether the answer has sources, which debuginfod servers may have. */
static bool wants_source(const struct request *r)
{
	return r->served->open_source &&
	       (r->kind == REQUEST_SOURCE ||
		       (r->kind == REQUEST_ANNOTATE && (r->source || !r->instructions)));
}

bool request_fetches(const struct request *r)
{
	return wants_source(r) || r->selection ||
	       (r->kind == REQUEST_DIFF && r->served->input.fetch);
}

/* It ends with the process that answers. */
static struct error *open_source(const struct request *r, struct machine_code *machine)
{
	return wants_source(r) ? r->served->open_source(0, &machine->source) : NULL;
}

static struct error *answer_annotate(
	struct request *r, struct sink *sink, void (*begin)(struct sink *sink))
{
	struct machine_code machine = {.root = r->served->root};
	const struct annotate_wanted wanted = {.code = &machine_code_provider,
		.data = &machine,
		.without_source = r->instructions && !r->source,
		.without_instructions = r->source && !r->instructions};
	struct annotated *annotated;
	struct error *err = open_source(r, &machine);

	if (err == NULL)
		err = annotate_ask(
			r->file->session, &r->question, &wanted, str_from(r->function), &annotated);
	if (err)
		return err;
	draw(annotated->answer, sink, begin);
	annotated_destroy(annotated);
	return NULL;
}

static struct error *answer_diff(
	struct request *r, struct sink *sink, void (*begin)(struct sink *sink))
{
	const struct comparison_sides sides = {.old_side = {{r->old_file->path}, 1},
		.new_side = {{r->new_file->path}, 1},
		.input = r->served->input,
		.normalize = r->normalize};
	struct comparison *comparison = NULL;
	struct answer *answer = NULL;
	struct error *err = comparison_open(&sides, &r->question, &comparison);

	if (err == NULL)
		err = comparison_ask(comparison, &r->question, &answer);
	if (err == NULL)
		draw(answer, sink, begin);
	answer_destroy(answer);
	comparison_close(comparison);
	return err;
}

/* A selection is fetched for this answer, and ends with the process that answers. */
static struct error *answer_recording(
	struct request *r, struct sink *sink, void (*begin)(struct sink *sink))
{
	struct session *session = r->selection ? NULL : r->file->session;
	struct error *err =
		session ? NULL : session_open(r->selection, &r->served->input, &session);

	if (err)
		return err;
	const struct profile *profile = session_profile(session);
	const struct writer_options options = {.metric = profile->default_metric};

	begin(sink);
	return writer_sonde.write(sink, profile, &options);
}

static struct str build_id_of(const struct profile *p, function_id function)
{
	object_id object = p->functions[function.i].object;

	return object.i == NO_ID ? STR("") : profile_string(p, p->objects[object.i].build_id);
}

/* Whether the profile has the path as a source; *build_id: of what was compiled from it. */
static bool names_source(const struct profile *p, struct str path, struct str *build_id)
{
	bool is_named = false;

	*build_id = STR("");
	for (uint32_t i = 0; i < p->function_count && build_id->size == 0; i++) {
		if (!str_equal(profile_string(p, p->functions[i].file), path))
			continue;
		is_named = true;
		*build_id = build_id_of(p, (function_id){i});
	}
	for (uint32_t i = 0; i < p->frame_count && build_id->size == 0; i++) {
		if (!str_equal(profile_string(p, p->frames[i].file), path))
			continue;
		is_named = true;
		*build_id = build_id_of(p, p->frames[i].function);
	}
	return is_named;
}

static struct error *answer_source(
	struct request *r, struct sink *sink, void (*begin)(struct sink *sink))
{
	struct machine_code machine = {.root = r->served->root};
	struct str path = str_from(r->source_file), build_id;

	if (!names_source(session_profile(r->file->session), path, &build_id))
		return error_new(ERROR_INPUT, "the profile names no such source");
	struct error *err = open_source(r, &machine);

	if (err)
		return err;
	struct code_file file = machine_code_source(&machine, path, build_id, r->arena);

	if (file.problem)
		return error_new(ERROR_INPUT, "%s", file.problem);
	begin(sink);
	for (size_t i = 0; i < file.line_count && sink_settle(sink); i++) {
		strbuf_add(&sink->text, file.lines[i]);
		strbuf_add_char(&sink->text, '\n');
	}
	return NULL;
}

static struct error *answer_page(
	struct request *r, struct sink *sink, void (*begin)(struct sink *sink))
{
	const struct page_options options = {.served = r->file->name,
		.selection = r->served->input.fetch ? r->file->path : NULL};

	if (page_is_built())
		begin(sink);
	return page_write(sink, session_profile(r->file->session), &r->question, &options);
}

struct error *request_answer(struct request *r, struct sink *sink, void (*begin)(struct sink *sink))
{
	switch (r->kind) {
	case REQUEST_ANNOTATE:
		return answer_annotate(r, sink, begin);
	case REQUEST_DIFF:
		return answer_diff(r, sink, begin);
	case REQUEST_RECORDING:
		return answer_recording(r, sink, begin);
	case REQUEST_SOURCE:
		return answer_source(r, sink, begin);
	case REQUEST_PAGE:
		return answer_page(r, sink, begin);
	case REQUEST_REPORT:
		break;
	}
	return answer_report(r, sink, begin);
}
