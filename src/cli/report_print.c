/*
 * Prints an answer: opens the file, standard output or the pager, and draws it to suit the
 * terminal.
 */
#include "cli/report_print.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/fail_over.h"
#include "cli/note_messages.h"
#include "cli/output.h"
#include "cli/pager.h"
#include "code/machine_code.h"
#include "symbolize/build_source.h"
#include "model/anonymous.h"
#include "page/page.h"
#include "session/values.h"

#define WIDTH_DEFAULT 80u

/* An exported COLUMNS is the user's choice; else ask the terminal. */
static size_t terminal_width(void)
{
	const char *columns_text = getenv("COLUMNS");
	struct winsize size;
	uint64_t width;

	if (columns_text) {
		struct error *err = value_count(columns_text, 1, INT32_MAX, &width);

		if (err == NULL)
			return (size_t)width;
		error_destroy(err);
	}
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	return WIDTH_DEFAULT;
}

static bool wants_color(enum color color, bool terminal)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (color != COLOR_AUTO)
		return color == COLOR_ALWAYS;
	if (no_color && *no_color)
		return false;
	return terminal && term && strcmp(term, "dumb") != 0;
}

/* Uses the environment instead of setlocale, which only knows installed locales. */
static bool locale_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

static struct text_style make_style(
	const struct report_options *options, const struct output *output, const char *hint)
{
	bool terminal = output->fd == STDOUT_FILENO && isatty(STDOUT_FILENO);
	struct text_style style = {
		.color = wants_color(options->color, terminal),
		.utf8 = locale_is_utf8(),
		.all_notes = options->all_notes,
		.hint = hint,
	};

	if (options->width >= 0)
		style.width = (size_t)options->width;
	else if (terminal)
		style.width = terminal_width();
	return style;
}

static struct error *write_page(const struct report_options *options, const struct profile *profile,
	const struct machine_code *machine, struct sink *sink)
{
	const struct annotate_wanted code = {.code = &machine_code_provider,
		.data = machine,
		.without_source = !options->embed_source,
		.without_instructions = !options->embed_asm};
	struct page_options page = {
		.code = options->embed_source || options->embed_asm ? &code : NULL};
	struct question plain = question_default();

	if (!options->anonymize)
		return page_write(sink, profile, &options->question, &page);
	/* Filters have names, too. */
	struct profile *anonymous = profile_anonymous(profile);
	struct error *err = page_write(sink, anonymous, &plain, &page);

	profile_destroy(anonymous);
	return err;
}

static struct error *draw_page(
	const struct report_options *options, const struct profile *profile, struct sink *sink)
{
	struct machine_code machine = {0};
	struct error *err =
		options->debuginfod ? build_source_debuginfod(0, &machine.source) : NULL;

	if (err == NULL)
		err = write_page(options, profile, &machine, sink);
	build_source_heed_interrupt(machine.source);
	build_source_destroy(machine.source);
	return err;
}

static struct error *draw(const struct report_options *options, const struct answer *answer,
	const struct text_style *style, struct sink *sink)
{
	struct error *err = NULL, *lost;

	if (answer->format->is_page)
		err = draw_page(options, answer->reports[0]->profile, sink);
	else
		answer_draw(answer, style, sink);
	lost = sink_finish(sink);
	if (err) {
		error_destroy(lost);
		return err;
	}
	err = lost;
	if (err && err->kind == ERROR_SYSTEM && err->code == EPIPE) {
		error_destroy(err);
		err = NULL;
	}
	return err;
}

static struct error *print_to(struct output *output, const struct report_options *options,
	const struct answer *answer, const char *hint)
{
	struct text_style style = make_style(options, output, hint);
	bool terminal = output->fd == STDOUT_FILENO && isatty(STDOUT_FILENO);
	struct pager pager;
	struct sink sink;
	struct error *err;

	if (!terminal || options->no_pager || !pager_start(&pager)) {
		output_sink(output, PACKING_NONE, &sink);
		return draw(options, answer, &style, &sink);
	}
	sink_init(&sink, pager.fd, "the pager");
	err = draw(options, answer, &style, &sink);
	pager_finish(&pager);
	return err;
}

static struct error *print_answer(
	const struct report_options *options, const struct answer *answer, const char *hint)
{
	struct output output;
	struct error *err;

	/* draw() must see a broken pipe, instead of a signal that would leave files behind. */
	signal(SIGPIPE, SIG_IGN);
	err = output_open(&output, options->output);
	if (err)
		return err;
	err = print_to(&output, options, answer, hint);
	if (err == NULL)
		return output_commit(&output);
	output_abandon(&output);
	return err;
}

struct error *report_print(
	const struct report_options *options, const struct answer *answer, const char *hint)
{
	struct error *err = print_answer(options, answer, hint);

	if (err == NULL && answer->format->notes_apart)
		note_messages_reports(answer->reports, answer->count);
	for (size_t i = 0; err == NULL && options->fail_over && i < answer->count; i++)
		err = fail_over_check(options->fail_over, answer->reports[i]);
	return err;
}
