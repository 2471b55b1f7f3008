/*
 * A running program: newer sessions take the place of older ones, while the view, the filters, the
 * selected function and the cursor stay.
 *
 * Looking and answering may take longer than the time between two looks.  So at least four times as
 * long as a look took is left to the user.  While a prompt or the help is open, nothing changes.
 */
#include "base/clock.h"
#include "browse/state.h"

enum { REST = 4 };

static void replace(struct browser *b, struct session *session)
{
	browser_page_keep(b);
	for (size_t i = 0; i < BROWSER_VIEWS; i++)
		browser_asked_deinit(b, &b->asked[i]);
	b->offers.count = 0;
	if (b->owns_session)
		session_close(b->session);
	b->owns_session = true;
	browser_set_session(b, session);
}

static bool is_looking(const struct browser *b)
{
	return b->look_ms != BROWSE_ENDED && !b->is_paused && !b->has_help &&
	       b->prompt == PROMPT_NONE;
}

void browser_look(struct browser *b)
{
	struct session *session = NULL;
	uint64_t wait_ms = b->options.live.every_ms, took_ms;

	if (!is_looking(b) || b->now_ms < b->look_ms)
		return;
	struct error *err = b->options.live.look(b->options.live.data, &session, &wait_ms);

	if (err) {
		browser_say(b, TUI_TROUBLE, "%s", err->message);
		wait_ms = BROWSE_ENDED;
	}
	error_destroy(err);
	if (session) {
		replace(b, session);
		(void)browser_report(b);
	}
	took_ms = clock_monotonic_ns() / 1000000 - b->now_ms;
	if (wait_ms != BROWSE_ENDED && wait_ms < REST * took_ms)
		wait_ms = REST * took_ms;
	b->look_ms = wait_ms == BROWSE_ENDED ? BROWSE_ENDED : b->now_ms + took_ms + wait_ms;
}

uint64_t browser_look_wait_ms(const struct browser *b)
{
	if (!is_looking(b))
		return BROWSE_ENDED;
	return b->look_ms > b->now_ms ? b->look_ms - b->now_ms : 0;
}

void browser_pause(struct browser *b)
{
	if (b->options.live.look == NULL)
		browser_say(b, TUI_NOTICE, "a recording does not change");
	else if (b->look_ms != BROWSE_ENDED)
		b->is_paused = !b->is_paused;
}

const char *browser_live_state(const struct browser *b)
{
	if (b->options.live.look == NULL)
		return NULL;
	return b->look_ms == BROWSE_ENDED ? "ended" : b->is_paused ? "paused" : "live";
}
