/*
 * A program made by hand that the terminal view looks at: see the header.
 */

#include "tui_world.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "zonereport/difference.h"
#include "unit.h"

static struct error *host_attach(void *data, pid_t pid, struct zone_region *region)
{
	struct world *w = data;

	if (pid == 13)
		return error_new(ERROR_INPUT, "13 has no zones");
	*region = w->m.region;
	return NULL;
}

static void host_detach(void *data)
{
	(void)data;
}

static enum tui_state host_state(void *data, char *detail, size_t detail_bytes)
{
	struct world *w = data;

	snprintf(detail, detail_bytes, "%s", w->detail ? w->detail : "");
	return w->state;
}

static bool host_is_replaced(void *data)
{
	struct world *w = data;
	bool is_replaced = w->is_replaced;

	w->is_replaced = false;
	return is_replaced;
}

static void host_thread_name(void *data, int32_t tid, char *name, size_t name_bytes)
{
	(void)data;
	snprintf(name, name_bytes, "kernel-%d", tid);
}

static struct error *host_save(void *data, const char *path)
{
	struct world *w = data;

	if (strcmp(path, w->saved) == 0)
		return error_new(ERROR_INPUT, "%s: there is such a file", path);
	snprintf(w->saved, sizeof(w->saved), "%s", path);
	return NULL;
}

static struct error *host_list(void *data, struct tui_program **programs, size_t *count)
{
	struct world *w = data;
	static const char *const names[] = {"game", "server", "quake"};

	*programs = xcalloc(3, sizeof(**programs));
	*count = w->programs;
	for (size_t i = 0; i < w->programs; i++) {
		struct tui_program *p = &(*programs)[i];

		p->pid = (pid_t)(11 + i);
		snprintf(p->name, sizeof(p->name), "%s", names[i]);
	}
	return NULL;
}

/* One frame of 10 ms (more if ai takes more than 1), in which the worker does 1 ms of physics. */
void add_frame(struct world *w, uint64_t ai_ms)
{
	struct zone_maker *m = &w->m;
	struct zone_reading reading;
	struct zone_tick tick;

	zone_maker_enter(m, w->main, w->frame);
	zone_maker_spend(m, w->main, w->ai, ai_ms * ms);
	zone_maker_enter(m, w->main, w->physics);
	zone_maker_pass(m, 2 * ms);
	zone_maker_spend(m, w->main, w->collide, 3 * ms);
	zone_maker_leave(m, w->main);
	zone_maker_spend(m, w->worker, w->physics, 4 * ms);
	zone_maker_leave(m, w->main);
	assert_true(zone_reader_read(w->reader, &m->region, &reading));
	assert_true(zone_difference_take(w->difference, &reading, &tick));
	tick.head.number = m->header->stream[0].ticks;
	zone_maker_tick(m, &tick.head, tick.delta);
}

void pass_ms(struct world *w, uint64_t by_ms)
{
	w->now_ms += by_ms;
	tui_model_tick(w->model, w->now_ms);
}

void world_init(struct world *w)
{
	struct zone_reading reading;
	struct zone_tick tick;

	*w = (struct world){.now_ms = 1000, .programs = 3};
	zone_maker_init(&w->m, 256, 4096, 4, 1 << 20);
	snprintf(w->m.header->program, sizeof(w->m.header->program), "game");
	w->m.region.header = *w->m.header;
	w->main = zone_maker_slot(&w->m, "main", 100);
	w->worker = zone_maker_slot(&w->m, "", 101);
	w->frame = zone_maker_zone(&w->m, "frame", "a.c", 1);
	w->ai = zone_maker_zone(&w->m, "ai", "a.c", 2);
	w->physics = zone_maker_zone(&w->m, "physics", "b.c", 3);
	w->collide = zone_maker_zone(&w->m, "col\x1b[2Jlide", "b.c", 4);
	w->reader = zone_reader_create();
	w->difference = zone_difference_create();
	assert_true(zone_reader_read(w->reader, &w->m.region, &reading));
	assert_false(zone_difference_take(w->difference, &reading, &tick));
	w->host = (struct tui_host){.data = w,
		.attach = host_attach,
		.detach = host_detach,
		.state = host_state,
		.is_replaced = host_is_replaced,
		.thread_name = host_thread_name,
		.save = host_save,
		.list = host_list};
	tui_canvas_init(&w->canvas);
}

void world_deinit(struct world *w)
{
	tui_model_destroy(w->model);
	zone_difference_destroy(w->difference);
	zone_reader_destroy(w->reader);
	zone_maker_deinit(&w->m);
	tui_canvas_deinit(&w->canvas);
	strbuf_deinit(&w->screen);
}

void start(struct world *w, bool choose)
{
	struct tui_options options = {.choose = choose};

	w->model = tui_model_create(&w->host, &options, w->now_ms);
	assert_null(tui_model_start(w->model));
}

/* Attached, after 20 frames of 10 ms. */
void world_of_frames(struct world *w)
{
	world_init(w);
	for (int i = 0; i < 20; i++)
		add_frame(w, i == 15 ? 21 : 1);
	start(w, false);
}

const char *draw_at(struct world *w, unsigned width, unsigned height)
{
	tui_canvas_clear(&w->canvas, width, height);
	tui_model_draw(w->model, &w->canvas);
	strbuf_clear(&w->screen);
	for (unsigned y = 0; y < w->canvas.height; y++) {
		tui_canvas_row(&w->canvas, y, &w->screen);
		strbuf_add_char(&w->screen, '\n');
	}
	return w->screen.data;
}

const char *draw(struct world *w)
{
	return draw_at(w, 80, 24);
}

/* The screen with one space where there are several. */
static const char *draw_squeezed(struct world *w)
{
	draw(w);
	char *to = w->screen.data;

	for (const char *from = to; *from; from++)
		if (*from != ' ' || from[1] != ' ')
			*to++ = *from;
	*to = '\0';
	return w->screen.data;
}

void press(struct world *w, const char *keys)
{
	for (; *keys; keys++)
		tui_model_key(w->model, (unsigned char)*keys);
}

void press_key(struct world *w, uint32_t key)
{
	tui_model_key(w->model, key);
}

void see(struct world *w, const char *text)
{
	if (!strstr(draw_squeezed(w), text)) {
		print_message("no \"%s\" in\n%s", text, w->screen.data);
		fail();
	}
}

void see_not(struct world *w, const char *text)
{
	if (strstr(draw(w), text)) {
		print_message("\"%s\" in\n%s", text, w->screen.data);
		fail();
	}
}

/* The texts stand on the screen in this order, each on a later line. */
void see_order(struct world *w, const char *const *texts)
{
	const char *at = draw_squeezed(w);

	for (; *texts; texts++) {
		const char *found = strstr(at, *texts);

		if (!found) {
			print_message("no \"%s\", or not there, in\n%s", *texts, w->screen.data);
			fail();
		}
		at = strchr(found, '\n');
	}
}

/* The line that the cursor is on. */
void see_cursor_on(struct world *w, const char *text)
{
	struct strbuf line = {0};

	draw(w);
	for (unsigned y = 2; y < w->canvas.height; y++)
		if (w->canvas.cell[(size_t)y * w->canvas.width].selected)
			tui_canvas_row(&w->canvas, y, &line);
	if (!line.data || !strstr(line.data, text)) {
		print_message("the cursor is on %s\n", line.data ? line.data : "nothing");
		fail();
	}
	strbuf_deinit(&line);
}
