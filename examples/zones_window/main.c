/*
 * zones_window: two galaxies collide, and over them is drawn what that takes: the report of zones,
 * and their graph.  An example of a program with zones, two threads and a window, with its own keys
 * for the displays.
 */
#include <GL/gl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <prof_gl.h>

#include "picture.h"
#include "scene.h"
#include "window.h"

enum { WIDTH = 960, HEIGHT = 600, LINE = 12, FRAME_NS = 1000000000 / 60 };

#define SLOW_MS 40

static const char usage[] =
	"zones_window [--legacy | --core] [--frames N]\n"
	"\n"
	"Two galaxies, and over them what each zone of the program takes.\n"
	"  --legacy    an OpenGL context of the old kind (as it is without options)\n"
	"  --core      an OpenGL 3.2 core-profile context\n"
	"  --frames N  ends after so many frames\n"
	"Keys:\n"
	"  up, down    the cursor        m  mode           p  pause\n"
	"  Enter       select a zone     r  recursion      f  freeze at a frame over 40 ms\n"
	"  Backspace   its parent        s  smoothing      q  quit\n"
	"  left, right older and newer frames\n";

struct program {
	bool is_core;
	long frames; /* 0: until it is closed */
	struct window window;
	struct scene *scene;
	struct picture *picture;
	Prof_Core *core;
	bool is_paused, is_spread, freezes, quits;
};

/* False: the arguments are wrong. */
static bool read_options(struct program *p, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *end = NULL;

		if (strcmp(argv[i], "--core") == 0)
			p->is_core = true;
		else if (strcmp(argv[i], "--legacy") == 0)
			p->is_core = false;
		else if (strcmp(argv[i], "--frames") == 0 && i + 1 < argc)
			p->frames = strtol(argv[++i], &end, 10);
		else
			return false;
		if (end && (*end || p->frames <= 0))
			return false;
	}
	return true;
}

/* NULL, or why not. */
static const char *begin(struct program *p)
{
	const char *why = window_open(&p->window, p->is_core, WIDTH, HEIGHT);

	if (why)
		return why;
	p->scene = scene_create(WIDTH, HEIGHT);
	p->picture = picture_create(WIDTH, HEIGHT, p->is_core, window_proc);
	if (!p->scene || !p->picture)
		return "no memory, or no OpenGL 3.0";
	if (p->is_core)
		p->core = Prof_core_create(window_proc, &why);
	return why;
}

static void end(struct program *p)
{
	Prof_core_destroy(p->core);
	if (p->picture)
		picture_destroy(p->picture);
	if (p->scene)
		scene_destroy(p->scene);
	window_close(&p->window);
}

/* ---- drawing ---- */

/* In pixels of the window; what is slow may reach far up, but not over the report. */
static void draw_core(struct program *p, float width, float height)
{
	Prof_core_view(p->core, 0, width, height, 0);
	Prof_draw_graph_core(p->core, 8, height - 10, (width - 16) / 127, -6);
	Prof_draw_core(p->core, 8, 20, 470, height - 170, LINE, 3);
}

static void draw_legacy(float width, float height)
{
	glMatrixMode(GL_PROJECTION);
	glLoadIdentity();
	glOrtho(0, width, height, 0, -1, 1);
	glEnable(GL_BLEND);
	glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
	Prof_draw_graph_gl(8, height - 10, (width - 16) / 127, -6);
	Prof_draw_gl(8, 20, 470, height - 170, LINE, 3, NULL, NULL);
	glDisable(GL_BLEND);
}

static void draw(struct program *p)
{
	float width = (float)p->window.width, height = (float)p->window.height;
	const unsigned char *rgba = scene_step(p->scene);

	Prof_Begin(draw) picture_show(p->picture, rgba, p->window.width, p->window.height);
	if (p->is_core)
		draw_core(p, width, height);
	else
		draw_legacy(width, height);
	Prof_End Prof_Begin(show) window_show(&p->window);
	Prof_End
}

/* ---- keys ---- */

static void next_mode(void)
{
	static const Prof_Report_Mode modes[] = {Prof_SELF_TIME, Prof_HIERARCHICAL_TIME,
		Prof_CALL_GRAPH, Prof_CALL_GRAPH_DESCENDENTS, Prof_SORT_NAME};
	size_t count = sizeof modes / sizeof modes[0], i = 0;

	while (i < count - 1 && modes[i] != Prof_get_report_mode())
		i++;
	Prof_set_report_mode(modes[(i + 1) % count]);
}

static void set_title(struct program *p)
{
	char title[128];

	snprintf(title, sizeof title, "zones_window%s%s - smoothing %d, recursion %s%s",
		p->is_core ? " (core)" : "", p->is_paused ? " - paused" : "", Prof_get_smoothing(),
		p->is_spread ? "spread" : "flattened", p->freezes ? ", freezes over 40 ms" : "");
	window_title(&p->window, title);
}

/* A second time lets the history go on. */
static void freeze(struct program *p)
{
	p->freezes = !p->freezes;
	Prof_freeze_over(p->freezes ? SLOW_MS : 0);
	Prof_set_frozen(0);
}

/* The keys that change what is shown of the zones. */
static bool take_display_key(KeySym key)
{
	switch (key) {
	case XK_Up:
		Prof_move_cursor(-1);
		return true;
	case XK_Down:
		Prof_move_cursor(1);
		return true;
	case XK_Return:
		Prof_select();
		return true;
	case XK_BackSpace:
		Prof_select_parent();
		return true;
	case XK_Left:
		Prof_move_frame(-1);
		return true;
	case XK_Right:
		Prof_move_frame(1);
		return true;
	case XK_m:
		next_mode();
		return true;
	case XK_s:
		Prof_set_smoothing((Prof_get_smoothing() + 1) % 3);
		return true;
	default:
		return false;
	}
}

static void take_key(struct program *p, KeySym key)
{
	if (take_display_key(key)) {
		set_title(p);
		return;
	}
	switch (key) {
	case XK_r:
		p->is_spread = !p->is_spread;
		Prof_set_recursion(p->is_spread ? Prof_SPREAD_RECURSION : Prof_FLATTEN_RECURSION);
		break;
	case XK_p:
		p->is_paused = !p->is_paused;
		break;
	case XK_f:
		freeze(p);
		break;
	case XK_q:
	case XK_Escape:
		p->quits = true;
		break;
	default:
		return;
	}
	set_title(p);
}

/* ---- the loop ---- */

/* Sixty frames a second, if there is time for as many. */
static void rest(struct timespec *next)
{
	struct timespec now;

	Prof_Block(rest);
	next->tv_nsec += FRAME_NS;
	next->tv_sec += next->tv_nsec / 1000000000;
	next->tv_nsec %= 1000000000;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec > next->tv_sec ||
		(now.tv_sec == next->tv_sec && now.tv_nsec > next->tv_nsec))
		*next = now;
	else
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL);
}

static void loop(struct program *p)
{
	struct timespec next;
	KeySym key;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (long frame = 0; !p->quits && (p->frames == 0 || frame < p->frames); frame++) {
		Prof_Begin(frame) while ((key = window_key(&p->window)) != 0) take_key(p, key);
		draw(p);
		rest(&next);
		Prof_End Prof_update(!p->is_paused);
		p->quits |= p->window.is_closed;
	}
}

int main(int argc, char **argv)
{
	static struct program program;
	const char *why;

	if (!read_options(&program, argc, argv)) {
		fputs(usage, stderr);
		return 2;
	}
	why = begin(&program);
	if (why) {
		fprintf(stderr, "zones_window: %s\n", why);
		return 1;
	}
	set_title(&program);
	fputs(strstr(usage, "Keys:"), stdout);
	fflush(stdout);
	loop(&program);
	end(&program);
	return 0;
}
