#ifndef SONDE_TESTS_TUI_WORLD_H
#define SONDE_TESTS_TUI_WORLD_H

/*
 * The terminal view of a program made by hand, without a terminal: what a host would say, the
 * clock, and what is on the screen.  What may not fail fails the test.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "view/tui/model.h"
#include "zone_region.h"

static const uint64_t ms = 1000000;

/* A program of one or more threads, and a host that has attached it. */
struct world {
	struct zone_maker m;
	struct zone_reader *reader;
	struct zone_difference *difference;
	uint32_t main, worker, frame, ai, physics, collide;
	uint64_t now_ms;
	struct tui_host host;
	struct tui_model *model;
	struct tui_canvas canvas;
	struct strbuf screen;
	enum tui_state state;
	const char *detail;
	char saved[256];
	size_t programs;  /* that the list has, at most 3 */
	bool is_replaced; /* the program has called exec */
};

/* A program of two threads, without a frame, that is not attached. */
void world_init(struct world *w);
void world_deinit(struct world *w);
/* Begins with the list, or attached. */
void start(struct world *w, bool choose);
/* Attached, after 20 frames of 10 ms, except the 16th, which took 30. */
void world_of_frames(struct world *w);
/* One frame of 9 ms and that for ai, in which the worker does 4 ms of physics. */
void add_frame(struct world *w, uint64_t ai_ms);
/* Time goes by for the view. */
void pass_ms(struct world *w, uint64_t by_ms);

/* The screen as text, good until the next; draw: 80 by 24. */
const char *draw_at(struct world *w, unsigned width, unsigned height);
const char *draw(struct world *w);
/* Keys: characters, or one of enum tui_key. */
void press(struct world *w, const char *keys);
void press_key(struct world *w, uint32_t key);

/* On the screen, with one space where there are several, the text is there, or is not. */
void see(struct world *w, const char *text);
void see_not(struct world *w, const char *text);
/* These stand there in this order, each on a later line. */
void see_order(struct world *w, const char *const *texts);
#define SEE_ORDER(w, ...) see_order(w, (const char *const[]){__VA_ARGS__, NULL})
/* The line that the cursor is on has that text. */
void see_cursor_on(struct world *w, const char *text);

#endif
