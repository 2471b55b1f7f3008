/*
 * Draws zones' displays within a program's own state of OpenGL, in a legacy context ("legacy") or a
 * core-profile one ("core"), and says line by line what has changed of the state, what is not as it
 * should be in the program's own text function, and what of the title is seen.  "done" at last.
 */
#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <prof_gl.h>

#include "../../examples/zones_window/window.h"

enum { WIDTH = 400, HEIGHT = 200 };

struct value {
	const char *name;
	GLenum what;
	int count;
};
#define VALUE(what, count)                                                                         \
	{                                                                                          \
#what, what, count                                                                 \
	}

static const struct value common[] = {
	VALUE(GL_BLEND, 1),
	VALUE(GL_CULL_FACE, 1),
	VALUE(GL_DEPTH_TEST, 1),
	VALUE(GL_SCISSOR_TEST, 1),
	VALUE(GL_STENCIL_TEST, 1),
	VALUE(GL_COLOR_LOGIC_OP, 1),
	VALUE(GL_SAMPLE_ALPHA_TO_COVERAGE, 1),
	VALUE(GL_POLYGON_MODE, 1),
	VALUE(GL_BLEND_SRC_RGB, 1),
	VALUE(GL_BLEND_DST_RGB, 1),
	VALUE(GL_BLEND_SRC_ALPHA, 1),
	VALUE(GL_BLEND_DST_ALPHA, 1),
	VALUE(GL_BLEND_EQUATION_RGB, 1),
	VALUE(GL_BLEND_EQUATION_ALPHA, 1),
	VALUE(GL_CURRENT_PROGRAM, 1),
	VALUE(GL_ACTIVE_TEXTURE, 1),
	VALUE(GL_TEXTURE_BINDING_2D, 1),
	VALUE(GL_ARRAY_BUFFER_BINDING, 1),
	VALUE(GL_VIEWPORT, 4),
	VALUE(GL_DEPTH_WRITEMASK, 1),
	VALUE(GL_LINE_WIDTH, 1),
	VALUE(GL_DRAW_FRAMEBUFFER_BINDING, 1),
};
static const struct value legacy_only[] = {
	VALUE(GL_ALPHA_TEST, 1),
	VALUE(GL_FOG, 1),
	VALUE(GL_LIGHTING, 1),
	VALUE(GL_TEXTURE_2D, 1),
	VALUE(GL_TEXTURE_1D, 1),
	VALUE(GL_LINE_STIPPLE, 1),
	VALUE(GL_POLYGON_STIPPLE, 1),
	VALUE(GL_SHADE_MODEL, 1),
	VALUE(GL_MATRIX_MODE, 1),
	VALUE(GL_CURRENT_COLOR, 4),
	VALUE(GL_ATTRIB_STACK_DEPTH, 1),
	VALUE(GL_MODELVIEW_MATRIX, 16),
	VALUE(GL_PROJECTION_MATRIX, 16),
	VALUE(GL_CLIENT_ATTRIB_STACK_DEPTH, 1),
	VALUE(GL_CLIP_PLANE0, 1),
	VALUE(GL_COLOR_SUM, 1),
	VALUE(GL_VERTEX_PROGRAM_ARB, 1),
	VALUE(GL_FRAGMENT_PROGRAM_ARB, 1),
	VALUE(GL_TEXTURE_COORD_ARRAY, 1),
	VALUE(GL_VERTEX_ARRAY, 1),
};
static const struct value core_only[] = {
	VALUE(GL_VERTEX_ARRAY_BINDING, 1),
	VALUE(GL_RASTERIZER_DISCARD, 1),
};
#define COUNT(array) (int)(sizeof array / sizeof array[0])

struct state {
	float values[64][16];
	int count;
};

static bool is_core;
static const struct value *value_of[64];

static void add_values(struct state *s, const struct value *values, int count)
{
	for (int i = 0; i < count; i++) {
		value_of[s->count] = &values[i];
		glGetFloatv(values[i].what, s->values[s->count++]);
	}
}

static struct state state_now(void)
{
	struct state s;

	memset(&s, 0, sizeof s);
	add_values(&s, common, COUNT(common));
	if (is_core)
		add_values(&s, core_only, COUNT(core_only));
	else
		add_values(&s, legacy_only, COUNT(legacy_only));
	return s;
}

static void compare(const char *when, const struct state *before)
{
	struct state now = state_now();
	GLenum error = glGetError();

	for (int i = 0; i < now.count; i++)
		if (memcmp(now.values[i], before->values[i], sizeof now.values[i]) != 0)
			printf("%s: %s was %g and is %g\n", when, value_of[i]->name,
				(double)before->values[i][0], (double)now.values[i][0]);
	if (error)
		printf("%s: error 0x%x\n", when, error);
}

/* ---- a program that has much of its own ---- */

static GLuint make_shader(GLenum kind, const char *text)
{
	GLuint shader = glCreateShader(kind);

	glShaderSource(shader, 1, &text, NULL);
	glCompileShader(shader);
	return shader;
}

/* Paints all red, wherever it should be. */
static GLuint make_program(void)
{
	GLuint program = glCreateProgram();

	glAttachShader(
		program, make_shader(GL_VERTEX_SHADER,
				 is_core ? "#version 150\nvoid main() { gl_Position = vec4(0); }"
					 : "void main() { gl_Position = vec4(0); }"));
	glAttachShader(program,
		make_shader(GL_FRAGMENT_SHADER,
			is_core ? "#version 150\nout vec4 c; void main() { c = vec4(1, 0, 0, 1); }"
				: "void main() { gl_FragColor = vec4(1, 0, 0, 1); }"));
	glLinkProgram(program);
	return program;
}

static void set_common(void)
{
	GLuint texture, buffer;
	static const unsigned char red[4] = {255, 0, 0, 255};

	glActiveTexture(GL_TEXTURE1);
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 1, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, red);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glGenBuffers(1, &buffer);
	glBindBuffer(GL_ARRAY_BUFFER, buffer);
	glUseProgram(make_program());
	glEnable(GL_CULL_FACE);
	glCullFace(GL_FRONT_AND_BACK);
	glEnable(GL_DEPTH_TEST);
	glDepthFunc(GL_NEVER);
	glEnable(GL_STENCIL_TEST);
	glStencilFunc(GL_NEVER, 1, 1);
	glEnable(GL_COLOR_LOGIC_OP);
	glEnable(GL_SAMPLE_ALPHA_TO_COVERAGE);
	glLogicOp(GL_CLEAR);
	glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
	glEnable(GL_BLEND);
	/* In a legacy context it is the program's, and so a common one. */
	glBlendFuncSeparate(is_core ? GL_ZERO : GL_SRC_ALPHA,
		is_core ? GL_ONE : GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ZERO);
	glBlendEquationSeparate(is_core ? GL_FUNC_REVERSE_SUBTRACT : GL_FUNC_ADD, GL_FUNC_ADD);
}

static void set_legacy(void)
{
	static const GLenum on[] = {GL_TEXTURE_2D, GL_TEXTURE_1D, GL_LIGHTING, GL_FOG,
		GL_LINE_STIPPLE, GL_POLYGON_STIPPLE, GL_ALPHA_TEST, GL_CLIP_PLANE0, GL_COLOR_SUM,
		GL_VERTEX_PROGRAM_ARB, GL_FRAGMENT_PROGRAM_ARB};
	static const double none[4] = {0, 0, 0, -1};
	static const GLubyte nothing[128];

	glMatrixMode(GL_PROJECTION);
	glLoadIdentity();
	glOrtho(0, WIDTH, HEIGHT, 0, -1, 1);
	glMatrixMode(GL_TEXTURE);
	for (int i = 0; i < COUNT(on); i++)
		glEnable(on[i]);
	glClipPlane(GL_CLIP_PLANE0, none);
	glAlphaFunc(GL_NEVER, 0);
	glLineStipple(1, 0);
	glPolygonStipple(nothing);
	glShadeModel(GL_FLAT);
	glColor4f(.1f, .2f, .3f, .4f);
	glEnableClientState(GL_TEXTURE_COORD_ARRAY);
}

static void set_core(void)
{
	GLuint array;

	glGenVertexArrays(1, &array);
	glBindVertexArray(array);
	glEnable(GL_RASTERIZER_DISCARD);
}

/* ---- its own text ---- */

static struct state own;
static int texts;
static bool has_title;

static void look_at_text(const char *text, const float rgba[4])
{
	struct state now = own;

	if (!is_core) {
		/* The colour is the text's, and a level of attributes is in use. */
		for (int i = 0; i < own.count; i++)
			if (value_of[i]->what == GL_CURRENT_COLOR ||
				value_of[i]->what == GL_ATTRIB_STACK_DEPTH)
				glGetFloatv(value_of[i]->what, now.values[i]);
	}
	compare("text", &now);
	texts++;
	if (strstr(text, "ms/frame")) {
		has_title = true;
		if (rgba[3] < 1)
			printf("text: the title's alpha is %g\n", (double)rgba[3]);
	}
	/* What a text may do. */
	glDisable(GL_BLEND);
	glActiveTexture(GL_TEXTURE0);
	glActiveTexture(GL_TEXTURE1);
	glEnable(GL_BLEND);
}

static void print_text(float x, float y, char *text)
{
	float rgba[4];

	(void)x;
	(void)y;
	glGetFloatv(GL_CURRENT_COLOR, rgba);
	look_at_text(text, rgba);
}

static float width_of(char *text)
{
	return 6 * (float)strlen(text);
}

static void text_core(void *data, float x, float y, const char *text, const float rgba[4])
{
	(void)data;
	(void)x;
	(void)y;
	look_at_text(text, rgba);
}

static float width_core(void *data, const char *text)
{
	(void)data;
	return 6 * (float)strlen(text);
}

/* ---- drawing ---- */

static Prof_Core *core;

static void draw_report(bool has_text)
{
	if (is_core) {
		Prof_core_text(core, has_text ? text_core : NULL, width_core, NULL);
		Prof_draw_core(core, 0, 20, WIDTH, HEIGHT - 20, 12, 2);
	} else {
		Prof_draw_gl(0, 20, WIDTH, HEIGHT - 20, 12, 2, has_text ? print_text : NULL,
			has_text ? width_of : NULL);
	}
}

static void draw_graph(float y_per_ms)
{
	if (is_core)
		Prof_draw_graph_core(core, 0, HEIGHT - 1, 3, y_per_ms);
	else
		Prof_draw_graph_gl(0, HEIGHT - 1, 3, y_per_ms);
}

/* How wide what is drawn along the upper edge is: frames that are some thousand pixels high. */
static void look_at_edge(void)
{
	static unsigned char pixels[6][WIDTH][4];
	int columns = 0;

	glClear(GL_COLOR_BUFFER_BIT);
	draw_graph(-2000);
	glReadPixels(0, HEIGHT - 6, WIDTH, 6, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	for (int x = 0; x < WIDTH; x++) {
		bool is_drawn = false;

		for (int y = 0; y < 6; y++)
			is_drawn |= pixels[y][x][0] > 60;
		columns += is_drawn;
	}
	printf("edge: %s\n", columns >= 12 ? "a line along it" : "no line along it");
	glClear(GL_COLOR_BUFFER_BIT);
}

/* Time that goes by in the zone, so that its frames are high. */
static void spend(int ms)
{
	const struct timespec time = {0, ms * 1000000};

	nanosleep(&time, NULL);
}

/* How many of the pixels in the title's line are as bright as its letters, and as its bar. */
static void look_at_title(void)
{
	static unsigned char pixels[12 * WIDTH][4];
	int letters = 0, bar = 0;

	glReadPixels(0, HEIGHT - 22, WIDTH, 12, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	for (int i = 0; i < 12 * WIDTH; i++) {
		letters += pixels[i][0] > 240 && pixels[i][1] > 210;
		bar += pixels[i][1] > 50 && pixels[i][0] < 50;
	}
	printf("title: %s letters, %s bar\n", letters > 150 ? "has" : "no",
		bar > 1500 ? "a" : "no");
}

int main(int argc, char **argv)
{
	struct window window;
	const char *why;

	is_core = argc > 1 && strcmp(argv[1], "core") == 0;
	why = window_open(&window, is_core, WIDTH, HEIGHT);
	if (!why && is_core)
		core = Prof_core_create(window_proc, &why);
	if (why) {
		printf("skip: %s\n", why);
		return 0;
	}
	if (core)
		Prof_core_view(core, 0, WIDTH, HEIGHT, 0);
	glClearColor(0, 0, 0, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	if (!core) {
		glMatrixMode(GL_PROJECTION);
		glLoadIdentity();
		glOrtho(0, WIDTH, HEIGHT, 0, -1, 1);
	}
	for (int i = 0; i < 8; i++) {
		{
			Prof_Block(work);
			spend(2);
		}
		Prof_update(1);
	}
	look_at_edge();
	set_common();
	if (is_core)
		set_core();
	else
		set_legacy();
	own = state_now();
	draw_report(false);
	compare("report", &own);
	draw_graph(-2);
	compare("graph", &own);
	look_at_title();
	draw_report(true);
	compare("report with text", &own);
	printf("own text: %s%s\n", texts > 8 ? "called" : "not called", has_title ? ", title" : "");
	Prof_core_destroy(core);
	window_close(&window);
	puts("done");
	return 0;
}
