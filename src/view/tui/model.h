#ifndef SONDE_VIEW_TUI_MODEL_H
#define SONDE_VIEW_TUI_MODEL_H

/*
 * The terminal view without a terminal: what the user does and what the program's zones do goes in,
 * a canvas comes out.
 *
 *  *	model = tui_model_create(&host, &options, now_ms);
 *  *	err = tui_model_start(model);
 *  *	until tui_model_is_done(model):
 *  *		tui_model_tick(model, now_ms)	when so much time went by
 *  *		tui_model_key, tui_model_mouse	when the user does something
 *  *		tui_model_draw(model, &canvas)	after each of them
 *
 * Times are in milliseconds of any monotonic clock.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "view/tui/canvas.h"
#include "view/tui/key.h"
#include "view/tui/tui.h"

struct tui_model;

/* The caller keeps host, which must outlive the model; options are copied. */
struct tui_model *tui_model_create(
	const struct tui_host *host, const struct tui_options *options, uint64_t now_ms);
void tui_model_destroy(struct tui_model *model);
/* Attaches the program that the command line named, or lists the programs. */
must_use struct error *tui_model_start(struct tui_model *model);
/* Looks for changes, if it is time to. */
void tui_model_tick(struct tui_model *model, uint64_t now_ms);
/* Milliseconds until the next tick has something to do. */
uint64_t tui_model_wait_ms(const struct tui_model *model, uint64_t now_ms);
void tui_model_key(struct tui_model *model, uint32_t key);
void tui_model_mouse(struct tui_model *model, struct tui_mouse mouse);
/* Draws on a canvas that has been cleared at the size of the screen. */
void tui_model_draw(struct tui_model *model, struct tui_canvas *canvas);
/* Whether the user has left. */
bool tui_model_is_done(const struct tui_model *model);

#endif
