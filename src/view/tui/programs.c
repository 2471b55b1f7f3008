/*
 * The list of programs with zones.  The cursor stays on its program; programs that end stay in the
 * list for a while, below the others, so that the user sees it.
 */
#include "view/tui/find.h"
#include "view/tui/model_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

enum { GONE_MAX = 20, GONE_MS = 60000 };

void tui_programs_deinit(struct tui_programs *programs)
{
	vec_deinit(&programs->all);
	vec_deinit(&programs->shown);
}

static bool matches(const struct tui_programs *p, const struct tui_program *program)
{
	char pid[16];

	if (!p->filter.text[0])
		return true;
	snprintf(pid, sizeof(pid), "%d", (int)program->pid);
	return tui_find(str_from(program->name), p->filter.text) >= 0 ||
	       tui_find(str_from(program->command), p->filter.text) >= 0 ||
	       strstr(pid, p->filter.text);
}

/* Finds the rows that match the filter, and moves the cursor back to its program. */
static void filter(struct tui_programs *p)
{
	p->shown.count = 0;
	for (size_t i = 0; i < p->all.count; i++)
		if (matches(p, &p->all.data[i].program))
			vec_push(&p->shown, i);
	p->list.count = p->shown.count;
	for (size_t i = 0; i < p->shown.count; i++)
		if (p->all.data[p->shown.data[i]].program.pid == p->cursor_pid)
			p->list.cursor = i;
	tui_list_settle(&p->list);
}

static void mark(struct tui_programs *p)
{
	if (p->list.cursor < p->shown.count)
		p->cursor_pid = p->all.data[p->shown.data[p->list.cursor]].program.pid;
}

static int by_pid(const void *a, const void *b)
{
	const struct tui_program *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static bool has_pid(const struct tui_program *programs, size_t count, pid_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (programs[i].pid == pid)
			return true;
	return false;
}

static pid_t attached_pid(const struct tui_model *m)
{
	const struct tui_attached *a = &m->attached;

	return a->pid ? a->pid : (pid_t)a->region.header.pid;
}

/* The program was attached until it ended; its memory remains until another one is attached. */
static bool is_kept(const struct tui_model *m, const struct tui_seen_program *seen)
{
	return seen->is_gone && m->attached.is_attached && m->attached.state == TUI_ENDED &&
	       seen->program.pid == attached_pid(m);
}

bool tui_programs_keep(struct tui_model *m)
{
	struct tui_programs *p = &m->programs;
	const struct zone_region *region = &m->attached.region;
	struct tui_seen_program *seen = NULL;

	if (m->attached.state != TUI_ENDED)
		return false;
	for (size_t i = 0; i < p->all.count && !seen; i++)
		if (p->all.data[i].program.pid == attached_pid(m))
			seen = &p->all.data[i];
	if (!seen) {
		struct tui_seen_program made = {.is_gone = true, .gone_ms = m->now_ms};

		made.program = (struct tui_program){.pid = attached_pid(m), .state = TUI_ENDED};
		snprintf(
			made.program.name, sizeof(made.program.name), "%s", region->header.program);
		vec_push(&p->all, made);
		seen = &p->all.data[p->all.count - 1];
	}
	if (!seen->is_gone)
		return false;
	/* The list was made before the program was attached. */
	seen->program.zones = zone_region_program_zones(region);
	seen->program.ticks = zone_region_header(region).stream[0].ticks;
	p->cursor_pid = seen->program.pid;
	filter(p);
	return true;
}

struct error *tui_programs_refresh(struct tui_model *m)
{
	struct tui_programs *p = &m->programs;
	struct tui_program *now = NULL;
	size_t count = 0, gone = 0;
	struct error *err = m->host->list(m->host->data, &now, &count);

	if (err)
		return err;
	if (count)
		qsort(now, count, sizeof(*now), by_pid);
	VEC(struct tui_seen_program) all = {0};

	for (size_t i = 0; i < count; i++)
		vec_push(&all, (struct tui_seen_program){.program = now[i]});
	for (size_t i = 0; i < p->all.count; i++) {
		struct tui_seen_program seen = p->all.data[i];

		if (has_pid(now, count, seen.program.pid))
			continue;
		if (!seen.is_gone)
			seen.gone_ms = m->now_ms;
		seen.is_gone = true;
		seen.program.state = TUI_ENDED;
		bool is_old = gone >= GONE_MAX || m->now_ms - seen.gone_ms >= GONE_MS;

		if (is_old && !is_kept(m, &seen))
			continue;
		gone++;
		vec_push(&all, seen);
	}
	free(now);
	vec_deinit(&p->all);
	memcpy(&p->all, &all, sizeof(all));
	filter(p);
	return NULL;
}

static const char *state_name(enum tui_state state)
{
	switch (state) {
	case TUI_RUNNING:
		return "running";
	case TUI_STOPPED:
		return "stopped";
	case TUI_ENDED:
		return "ended";
	case TUI_SAVED:
		return "saved";
	}
	return "";
}

/* Where columns end: narrow screens lack the later ones. */
struct layout {
	unsigned pid, state, zones, threads, frames, name; /* 0: no such column */
};

static struct layout lay_out(unsigned width)
{
	struct layout at = {.pid = 8, .state = 16};
	unsigned x = 16;

	if (width >= 60) {
		at.zones = x += 7;
		at.threads = x += 9;
	}
	if (width >= 70)
		at.frames = x += 11;
	at.name = x + 1;
	return at;
}

static void draw_head(struct tui_canvas *canvas, unsigned y, struct layout at)
{
	tui_fill(canvas, y, 0, canvas->width, TUI_HEAD);
	tui_put_right(canvas, y, 0, at.pid, TUI_SORTED, STR("PID"));
	tui_put(canvas, y, at.pid + 1, at.state, TUI_HEAD, STR("STATE"));
	tui_put_right(canvas, y, at.state, at.zones, TUI_HEAD, STR("ZONES"));
	tui_put_right(canvas, y, at.zones, at.threads, TUI_HEAD, STR("THREADS"));
	tui_put_right(canvas, y, at.threads, at.frames, TUI_HEAD, STR("FRAMES"));
	tui_put(canvas, y, at.name + 1, canvas->width, TUI_HEAD, STR("PROGRAM"));
}

static void put_number(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end,
	enum tui_style style, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%ju", (uintmax_t)number);
	tui_put_right(canvas, y, x, end, style, str_from(text));
}

static void draw_program(const struct tui_seen_program *seen, struct tui_canvas *canvas, unsigned y,
	struct layout at)
{
	const struct tui_program *program = &seen->program;
	bool is_dim = seen->is_gone || program->problem[0];
	enum tui_style style = is_dim ? TUI_DIM : TUI_PLAIN;
	enum tui_style state = program->state == TUI_RUNNING ? TUI_GOOD : TUI_NOTICE;

	put_number(canvas, y, 0, at.pid, style, (uint64_t)program->pid);
	tui_put(canvas, y, at.pid + 1, at.state, is_dim ? TUI_DIM : state,
		str_from(state_name(program->state)));
	if (!program->problem[0]) {
		put_number(canvas, y, at.state, at.zones, style, program->zones);
		put_number(canvas, y, at.zones, at.threads, style, program->threads);
		put_number(canvas, y, at.threads, at.frames, style, program->ticks);
	}
	unsigned x = tui_put_name(canvas, y, at.name + 1, canvas->width,
		is_dim ? TUI_DIM : TUI_TITLE, str_from(program->name));

	tui_put_name(canvas, y, x + 2, canvas->width, is_dim ? TUI_NOTICE : TUI_DIM,
		str_from(program->problem[0] ? program->problem : program->command));
}

static void draw_nothing(struct tui_programs *p, struct tui_canvas *canvas, unsigned y)
{
	if (p->all.count) {
		tui_put(canvas, y, 2, canvas->width, TUI_DIM, STR("none that fits the filter"));
		return;
	}
	tui_put(canvas, y, 2, canvas->width, TUI_PLAIN, STR("No program has zones at the moment."));
	tui_put(canvas, y + 2, 2, canvas->width, TUI_DIM,
		STR("A program has zones when it is built with prof.h (man sonde-zones)"));
	tui_put(canvas, y + 3, 2, canvas->width, TUI_DIM,
		STR("and has entered one. It appears here by itself."));
}

static void draw_foot(struct tui_model *m, struct tui_canvas *canvas, unsigned y)
{
	struct tui_programs *p = &m->programs;

	if (m->message.text[0])
		tui_message_draw(&m->message, canvas, y);
	else if (p->is_filtering || p->filter.text[0])
		tui_line_draw(&p->filter, canvas, y, "Filter: ");
	else
		tui_put(canvas, y, 0, canvas->width, TUI_DIM,
			STR("Enter attach  type or / to filter  q quit  F1 help"));
}

void tui_programs_draw(struct tui_model *m, struct tui_canvas *canvas)
{
	struct tui_programs *p = &m->programs;
	unsigned last = canvas->height - 1;
	struct layout at = lay_out(canvas->width);

	tui_put(canvas, 0, 0, canvas->width, TUI_TITLE, STR("Programs with zones"));
	draw_head(canvas, 1, at);
	p->list.y = 2;
	p->list.height = last > 2 ? last - 2 : 0;
	tui_list_settle(&p->list);
	for (unsigned i = 0; i < p->list.height && p->list.top + i < p->shown.count; i++) {
		size_t row = p->list.top + i;

		draw_program(&p->all.data[p->shown.data[row]], canvas, p->list.y + i, at);
		if (row == p->list.cursor)
			tui_select(canvas, p->list.y + i, 0, canvas->width);
	}
	if (!p->shown.count)
		draw_nothing(p, canvas, 3);
	tui_list_draw_bar(&p->list, canvas, canvas->width - 1);
	draw_foot(m, canvas, last);
}

static void attach_at_cursor(struct tui_model *m)
{
	struct tui_programs *p = &m->programs;

	if (p->list.cursor >= p->shown.count)
		return;
	const struct tui_seen_program *seen = &p->all.data[p->shown.data[p->list.cursor]];

	if (is_kept(m, seen)) {
		m->screen = TUI_SCREEN_ZONES;
		return;
	}
	if (seen->is_gone) {
		tui_say(m, TUI_NOTICE, "%d has ended", (int)seen->program.pid);
		return;
	}
	struct error *err = tui_attach(m, seen->program.pid);

	if (err)
		tui_say_error(m, err);
}

/* Escape undoes one thing at a time. */
static void escape_key(struct tui_model *m)
{
	struct tui_programs *p = &m->programs;

	if (p->is_filtering || p->filter.text[0]) {
		p->is_filtering = false;
		p->filter.text[0] = '\0';
		filter(p);
	} else {
		m->is_done = true;
	}
}

void tui_programs_key(struct tui_model *m, uint32_t key)
{
	struct tui_programs *p = &m->programs;
	bool is_typing = p->is_filtering || p->filter.text[0];

	if (key == TUI_KEY_ENTER)
		attach_at_cursor(m);
	else if (key == TUI_KEY_ESCAPE)
		escape_key(m);
	else if (key == TUI_KEY_HELP || (!is_typing && key == '?'))
		m->overlay = TUI_OVERLAY_HELP;
	else if (!is_typing && key == 'q')
		m->is_done = true;
	else if (!is_typing && key == '/')
		p->is_filtering = true;
	else if (key >= TUI_KEY_FIRST && tui_list_key(&p->list, key))
		mark(p);
	else if (tui_line_key(&p->filter, key))
		filter(p);
}

void tui_programs_mouse(struct tui_model *m, struct tui_mouse mouse)
{
	struct tui_programs *p = &m->programs;
	size_t row;

	if (mouse.click == TUI_WHEEL_UP || mouse.click == TUI_WHEEL_DOWN) {
		tui_list_move(&p->list, mouse.click == TUI_WHEEL_UP ? -3 : 3);
		mark(p);
	} else if (tui_list_at(&p->list, mouse.y, &row)) {
		p->list.cursor = row;
		mark(p);
		if (mouse.click == TUI_CLICK_DOUBLE)
			attach_at_cursor(m);
	}
}
