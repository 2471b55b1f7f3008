/*
 * The displays in a legacy or compatibility context: Prof_draw_gl and Prof_draw_graph_gl.
 *
 * Uses glBegin and glEnd, because only they do not depend on buffers, arrays or pointers that the
 * program may have bound.  Coordinates and blending are the program's; all other state that would
 * colour or hide a rectangle is disabled while drawing.  The program's own text function is called
 * with its own state, except for the colour.
 */
#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "zones_gl/graph.h"

struct legacy {
	void (*print_text)(float x, float y, char *text);
	float (*text_width)(char *text);
	int major, minor; /* the context's version */
	bool blends;
	bool is_set;  /* the state is currently ours */
	bool is_open; /* after glBegin, before glEnd */
	bool sums;    /* the program's GL_COLOR_SUM */
	GLint program;
};

static bool has(const struct legacy *l, int major, int minor)
{
	return l->major > major || (l->major == major && l->minor >= minor);
}

static void disable_textures(const struct legacy *l)
{
	GLint units = 1;

	if (has(l, 1, 3))
		glGetIntegerv(GL_MAX_TEXTURE_UNITS, &units);
	for (int i = units - 1; i >= 0; i--) {
		if (has(l, 1, 3))
			glActiveTexture(GL_TEXTURE0 + (GLenum)i);
		glDisable(GL_TEXTURE_1D);
		glDisable(GL_TEXTURE_2D);
		if (has(l, 1, 2))
			glDisable(GL_TEXTURE_3D);
		if (has(l, 1, 3))
			glDisable(GL_TEXTURE_CUBE_MAP);
		if (has(l, 3, 1))
			glDisable(GL_TEXTURE_RECTANGLE);
	}
}

/*
 * Disables what colours and clips in addition to shaders: planes, and programs from before shaders
 * existed.
 */
static void disable_extras(void)
{
	const char *extensions = (const char *)glGetString(GL_EXTENSIONS);

	for (GLenum i = 0; i < 6; i++)
		glDisable(GL_CLIP_PLANE0 + i);
	if (extensions && strstr(extensions, "GL_ARB_vertex_program"))
		glDisable(GL_VERTEX_PROGRAM_ARB);
	if (extensions && strstr(extensions, "GL_ARB_fragment_program"))
		glDisable(GL_FRAGMENT_PROGRAM_ARB);
}

static void set_state(struct legacy *l)
{
	static const GLenum off[] = {GL_ALPHA_TEST, GL_COLOR_LOGIC_OP, GL_CULL_FACE, GL_DEPTH_TEST,
		GL_FOG, GL_LIGHTING, GL_LINE_STIPPLE, GL_POLYGON_STIPPLE, GL_STENCIL_TEST};

	if (l->is_set)
		return;
	l->is_set = true;
	glPushAttrib(
		GL_ENABLE_BIT | GL_CURRENT_BIT | GL_POLYGON_BIT | GL_LINE_BIT | GL_TEXTURE_BIT);
	for (size_t i = 0; i < sizeof off / sizeof off[0]; i++)
		glDisable(off[i]);
	disable_textures(l);
	disable_extras();
	if (has(l, 1, 3))
		glDisable(GL_SAMPLE_ALPHA_TO_COVERAGE);
	glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
	if (has(l, 1, 4)) {
		/* Mesa does not save it with the attributes. */
		l->sums = glIsEnabled(GL_COLOR_SUM);
		glDisable(GL_COLOR_SUM);
	}
	if (has(l, 2, 0)) {
		glGetIntegerv(GL_CURRENT_PROGRAM, &l->program);
		glUseProgram(0);
	}
}

static void close_batch(struct legacy *l)
{
	if (l->is_open)
		glEnd();
	l->is_open = false;
}

static void restore_state(struct legacy *l)
{
	close_batch(l);
	if (!l->is_set)
		return;
	l->is_set = false;
	if (has(l, 2, 0))
		glUseProgram((GLuint)l->program);
	if (l->sums)
		glEnable(GL_COLOR_SUM);
	glPopAttrib();
}

static void draw_rectangle(void *data, float x0, float y0, float x1, float y1, const float rgba[4])
{
	struct legacy *l = data;

	/* A glow, which would hide what is below it. */
	if (!l->blends && rgba[3] < .6f)
		return;
	set_state(l);
	if (!l->is_open)
		glBegin(GL_QUADS);
	l->is_open = true;
	glColor4fv(rgba);
	glVertex2f(x0, y0);
	glVertex2f(x1, y0);
	glVertex2f(x1, y1);
	glVertex2f(x0, y1);
}

static void draw_line_strip(void *data, const float *xy, int num, const float rgba[4])
{
	struct legacy *l = data;

	close_batch(l);
	set_state(l);
	glColor4fv(rgba);
	glBegin(GL_LINE_STRIP);
	for (int i = 0; i < num; i++)
		glVertex2fv(xy + (ptrdiff_t)2 * i);
	glEnd();
}

static void draw_text(void *data, float x, float y, const char *text, const float rgba[4])
{
	struct legacy *l = data;

	if (!l->blends && rgba[3] < .6f)
		return;
	restore_state(l);
	glColor4fv(rgba);
	/* IProf's users have functions without const. */
	l->print_text(x, y, (char *)text);
}

static float text_width(void *data, const char *text)
{
	return ((struct legacy *)data)->text_width((char *)text);
}

/* False: there is no context. */
static bool begin(struct legacy *l)
{
	const char *version = (const char *)glGetString(GL_VERSION);

	if (!version || sscanf(version, "%d.%d", &l->major, &l->minor) != 2)
		return false;
	glPushAttrib(GL_ALL_ATTRIB_BITS);
	l->blends = glIsEnabled(GL_BLEND);
	return true;
}

static void end(struct legacy *l)
{
	restore_state(l);
	glPopAttrib();
}

void Prof_draw_gl(float sx, float sy, float width, float height, float line_spacing, int precision,
	void (*print_text)(float x, float y, char *text), float (*width_of)(char *text))
{
	bool has_text = print_text && width_of;
	struct legacy l = {.print_text = print_text, .text_width = width_of};
	Prof_Device device = {
		&l, draw_rectangle, draw_line_strip, has_text ? draw_text : NULL, text_width};

	if (!begin(&l))
		return;
	Prof_draw_device(&device, sx, sy, width, height, line_spacing, precision);
	end(&l);
}

/* m * n, for OpenGL's matrices, which are in column order. */
static void multiply(const float m[16], const float n[16], float product[16])
{
	for (int i = 0; i < 16; i++) {
		product[i] = 0;
		for (int k = 0; k < 4; k++)
			product[i] += m[4 * k + i % 4] * n[i / 4 * 4 + k];
	}
}

/*
 * Where a line that goes up, or down, from (x, y) meets the viewport's edge, by the program's
 * matrices: clip y is w or -w there.  y if it does not.
 */
static float edge_beyond(float x, float y, bool grows)
{
	float view[16], projection[16], m[16], nearest = y;

	glGetFloatv(GL_MODELVIEW_MATRIX, view);
	glGetFloatv(GL_PROJECTION_MATRIX, projection);
	multiply(projection, view, m);
	for (int side = -1; side <= 1; side += 2) {
		float edge = (float)side, slope = m[5] - edge * m[7];
		float at = (edge * (m[3] * x + m[15]) - (m[1] * x + m[13])) / slope;

		if (slope != 0 && (grows ? at > y : at < y) &&
			(nearest == y || (grows ? at < nearest : at > nearest)))
			nearest = at;
	}
	return nearest;
}

void Prof_draw_graph_gl(float sx, float sy, float x_per_frame, float y_per_ms)
{
	struct graph_place place = {sx, sy, sy};
	struct legacy l = {.blends = true};
	Prof_Device device = {&l, draw_rectangle, draw_line_strip, NULL, NULL};

	if (!begin(&l))
		return;
	place.edge = edge_beyond(sx, sy, y_per_ms > 0);
	graph_draw(&device, &place, x_per_frame, y_per_ms, 128);
	end(&l);
}
