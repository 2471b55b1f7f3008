/*
 * Repeats a question's files, metric and filters, so that a follow-up is about the same samples.
 * As words for the shell, or as members of a JSON object.
 */
#include "session/subject.h"

#include "base/escape.h"
#include "session/option.h"
#include "view/brief.h"

/* One option with a value. */
static void add(struct strbuf *out, enum brief_form form, const char *name, const char *value)
{
	if (form == BRIEF_TOOLS) {
		strbuf_printf(out, "%s\"%s\": ", out->size ? ", " : "", name);
		quote_json(out, str_from(value));
		return;
	}
	/* With '=', a value that begins with a dash is not an option. */
	strbuf_printf(out, " --%s%s", name, value[0] == '-' ? "=" : " ");
	quote_shell(out, str_from(value));
}

/* Whether an earlier filter is of the same kind. */
static bool is_repeated(const struct filter_options *filters, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (filters->requests.data[k].kind == filters->requests.data[i].kind)
			return true;
	return false;
}

/*
 * Members of JSON objects have different names, so tools take filters of one kind as a list; the
 * order is then that of the kinds, as it was in the question.
 */
static void add_kind(struct strbuf *out, const struct filter_options *filters, size_t i)
{
	enum filter_kind kind = filters->requests.data[i].kind;

	strbuf_printf(out, "%s\"%s\": [", out->size ? ", " : "", filter_names[kind]);
	for (size_t k = i; k < filters->requests.count; k++) {
		if (filters->requests.data[k].kind != kind)
			continue;
		strbuf_add(out, k == i ? STR("") : STR(", "));
		quote_json(out, str_from(filters->requests.data[k].text));
	}
	strbuf_add_char(out, ']');
}

static void add_same(struct strbuf *out, const struct filter_options *filters)
{
	strbuf_printf(out, "%s\"same\": [", out->size ? ", " : "");
	for (size_t i = 0; i < filters->same_texts.count; i++) {
		strbuf_add(out, i ? STR(", ") : STR(""));
		quote_json(out, str_from(filters->same_texts.data[i]));
	}
	strbuf_add_char(out, ']');
}

static void add_filters(
	struct strbuf *out, enum brief_form form, const struct filter_options *filters)
{
	for (size_t i = 0; i < filters->requests.count; i++)
		if (form == BRIEF_COMMANDS)
			add(out, form, filter_names[filters->requests.data[i].kind],
				filters->requests.data[i].text);
		else if (!is_repeated(filters, i))
			add_kind(out, filters, i);
	if (filters->when_modules != 0)
		add(out, form, "module-by", when_modules_names[filters->when_modules]);
	if (form == BRIEF_TOOLS && filters->same_texts.count)
		add_same(out, filters);
	for (size_t i = 0; form == BRIEF_COMMANDS && i < filters->same_texts.count; i++)
		add(out, form, "same", filters->same_texts.data[i]);
}

const struct brief_subject *subject_of(const struct question *question, struct arena *arena)
{
	struct strbuf out = {0};

	if (!question->brief || question->subject == NULL)
		return NULL;
	struct brief_subject *subject = ARENA_NEW(arena, struct brief_subject);

	strbuf_add(&out, str_from(question->subject));
	if (question->metric)
		add(&out, question->form, "metric", question->metric);
	if (question->clock >= 0)
		add(&out, question->form, "clock", question_clock_name(question));
	add_filters(&out, question->form, &question->filters);
	*subject = (struct brief_subject){.form = question->form,
		.is_difference = question->is_difference,
		.arguments = arena_str(arena, strbuf_str(&out)).data};
	strbuf_deinit(&out);
	return subject;
}
