/* Opens the terminal browser (browse/) for a command. */
#include "cli/terminal_browser.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code/annotate_session.h"
#include "code/machine_code.h"
#include "view/tui/loop.h"

static struct error *ask_source(struct session *session, struct question *question,
	const char *function, struct browse_source *source)
{
	static const struct machine_code machine;
	const struct annotate_wanted wanted = {.code = &machine_code_provider, .data = &machine};
	struct annotated *annotated;
	struct error *err =
		annotate_ask(session, question, &wanted, str_from(function), &annotated);

	if (err == NULL)
		*source = (struct browse_source){annotated->answer, annotated};
	return err;
}

static void free_source(struct browse_source *source)
{
	annotated_destroy(source->kept);
}

bool terminal_browser_fits(void)
{
	const char *term = getenv("TERM");

	return tui_is_built() && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

struct error *terminal_browser_run(const struct question *question, struct session *session,
	const struct browse_live *live, int *signal_number)
{
	struct browse_options options = {
		.question = question, .source = ask_source, .source_free = free_source};

	if (live)
		options.live = *live;
	*signal_number = 0;
	return browse_run(session, &options, signal_number);
}

void terminal_browser_raise(int signal_number)
{
	if (signal_number == 0)
		return;
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}
