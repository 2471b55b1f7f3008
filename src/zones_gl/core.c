/*
 * The displays in OpenGL's core profile, 3.2 and later.
 *
 * Rectangles and lines are batched as triangles and pairs of points, and sent to the driver by the
 * thousand: a page of text is one or two calls.  Each call uses new buffer storage, so nothing
 * waits for unfinished drawing.
 */
#include <stdlib.h>
#include <string.h>

#include <prof_gl.h>

#include "zones_gl/core_gl.h"
#include "zones_gl/graph.h"

enum { VERTICES = 6 * 1024 };
enum { PLACE = 0, COLOUR = 1 }; /* attributes */

struct vertex {
	float x, y;
	GLubyte rgba[4];
};

struct Prof_Core {
	struct core_gl gl;
	GLuint program, array, buffer;
	GLint view; /* the uniform */
	float left, right, bottom, top;
	void (*text)(void *data, float x, float y, const char *text, const float rgba[4]);
	float (*text_width)(void *data, const char *text);
	void *text_data;
	struct core_state saved;
	bool is_set; /* the state is currently ours */
	GLenum mode; /* of the vertices */
	int count;
	struct vertex vertices[VERTICES];
};

static const char *const vertex_source =
	"#version 150\n"
	"uniform vec4 view;\n"
	"in vec2 place;\n"
	"in vec4 colour;\n"
	"out vec4 shade;\n"
	"void main()\n"
	"{\n"
	"	gl_Position = vec4(place * view.xy + view.zw, 0.0, 1.0);\n"
	"	shade = colour;\n"
	"}\n";
static const char *const fragment_source = "#version 150\n"
					   "in vec4 shade;\n"
					   "out vec4 result;\n"
					   "void main()\n"
					   "{\n"
					   "	result = shade;\n"
					   "}\n";

static void add_shader(const struct core_gl *gl, GLuint program, GLenum kind, const char *source)
{
	GLuint shader = gl->CreateShader(kind);

	gl->ShaderSource(shader, 1, &source, NULL);
	gl->CompileShader(shader);
	gl->AttachShader(program, shader);
	/* It is deleted with the program. */
	gl->DeleteShader(shader);
}

/* False: it does not compile or link. */
static bool make_program(Prof_Core *core)
{
	const struct core_gl *gl = &core->gl;
	GLint is_linked = 0;

	core->program = gl->CreateProgram();
	add_shader(gl, core->program, GL_VERTEX_SHADER, vertex_source);
	add_shader(gl, core->program, GL_FRAGMENT_SHADER, fragment_source);
	gl->BindAttribLocation(core->program, PLACE, "place");
	gl->BindAttribLocation(core->program, COLOUR, "colour");
	gl->LinkProgram(core->program);
	gl->GetProgramiv(core->program, GL_LINK_STATUS, &is_linked);
	core->view = gl->GetUniformLocation(core->program, "view");
	return is_linked;
}

static void make_array(Prof_Core *core)
{
	const struct core_gl *gl = &core->gl;
	struct core_state saved;

	core_state_set(gl, &saved);
	gl->GenVertexArrays(1, &core->array);
	gl->GenBuffers(1, &core->buffer);
	gl->BindVertexArray(core->array);
	gl->BindBuffer(GL_ARRAY_BUFFER, core->buffer);
	gl->VertexAttribPointer(PLACE, 2, GL_FLOAT, GL_FALSE, sizeof(struct vertex), NULL);
	gl->VertexAttribPointer(COLOUR, 4, GL_UNSIGNED_BYTE, GL_TRUE, sizeof(struct vertex),
		(void *)offsetof(struct vertex, rgba));
	gl->EnableVertexAttribArray(PLACE);
	gl->EnableVertexAttribArray(COLOUR);
	core_state_restore(gl, &saved);
}

/* The feature that the context lacks; NULL: none. */
static const char *lacks(Prof_Core *core, Prof_Proc (*get_proc)(const char *name))
{
	const char *missing = core_gl_load(&core->gl, get_proc);
	GLint major = 0, minor = 0;

	if (missing)
		return missing;
	if (!core->gl.GetString(GL_VERSION))
		return "a current context";
	core->gl.GetIntegerv(GL_MAJOR_VERSION, &major);
	core->gl.GetIntegerv(GL_MINOR_VERSION, &minor);
	if (major < 3 || (major == 3 && minor < 2))
		return "OpenGL 3.2";
	if (!make_program(core))
		return "GLSL 1.50";
	make_array(core);
	return NULL;
}

Prof_Core *Prof_core_create(Prof_Proc (*get_proc)(const char *name), const char **why)
{
	Prof_Core *core = calloc(1, sizeof *core);
	const char *lack = core ? lacks(core, get_proc) : "memory";

	if (why)
		*why = lack;
	if (!lack) {
		Prof_core_view(core, -1, 1, -1, 1);
		return core;
	}
	if (core && core->program)
		core->gl.DeleteProgram(core->program);
	free(core);
	return NULL;
}

void Prof_core_destroy(Prof_Core *core)
{
	if (!core)
		return;
	core->gl.DeleteVertexArrays(1, &core->array);
	core->gl.DeleteBuffers(1, &core->buffer);
	core->gl.DeleteProgram(core->program);
	free(core);
}

void Prof_core_view(Prof_Core *core, float left, float right, float bottom, float top)
{
	core->left = left;
	core->right = right;
	core->bottom = bottom;
	core->top = top;
}

void Prof_core_text(Prof_Core *core,
	void (*text)(void *data, float x, float y, const char *text, const float rgba[4]),
	float (*text_width)(void *data, const char *text), void *data)
{
	core->text = text_width ? text : NULL;
	core->text_width = text_width;
	core->text_data = data;
}

static void set_state(Prof_Core *core)
{
	const struct core_gl *gl = &core->gl;
	float width = core->right - core->left, height = core->top - core->bottom;

	if (core->is_set)
		return;
	core->is_set = true;
	core_state_set(gl, &core->saved);
	gl->UseProgram(core->program);
	gl->BindVertexArray(core->array);
	gl->BindBuffer(GL_ARRAY_BUFFER, core->buffer);
	gl->Uniform4f(core->view, 2 / width, 2 / height, -(core->right + core->left) / width,
		-(core->top + core->bottom) / height);
}

static void flush(Prof_Core *core)
{
	const struct core_gl *gl = &core->gl;

	if (core->count == 0)
		return;
	set_state(core);
	gl->BufferData(GL_ARRAY_BUFFER, core->count * (GLsizeiptr)sizeof(struct vertex),
		core->vertices, GL_STREAM_DRAW);
	gl->DrawArrays(core->mode, 0, core->count);
	core->count = 0;
}

static void restore_state(Prof_Core *core)
{
	flush(core);
	if (core->is_set)
		core_state_restore(&core->gl, &core->saved);
	core->is_set = false;
}

/* Makes room for that many more vertices. */
static struct vertex *vertices_for(Prof_Core *core, GLenum mode, int count)
{
	struct vertex *at;

	if (core->mode != mode || core->count + count > VERTICES)
		flush(core);
	core->mode = mode;
	at = core->vertices + core->count;
	core->count += count;
	return at;
}

static struct vertex vertex_at(float x, float y, const float rgba[4])
{
	struct vertex v = {.x = x, .y = y};

	for (int i = 0; i < 4; i++)
		v.rgba[i] = (GLubyte)(rgba[i] * 255 + .5f);
	return v;
}

static void draw_rectangle(void *data, float x0, float y0, float x1, float y1, const float rgba[4])
{
	struct vertex *v = vertices_for(data, GL_TRIANGLES, 6);

	v[0] = vertex_at(x0, y0, rgba);
	v[1] = v[3] = vertex_at(x1, y0, rgba);
	v[2] = v[4] = vertex_at(x0, y1, rgba);
	v[5] = vertex_at(x1, y1, rgba);
}

static void draw_line_strip(void *data, const float *xy, int num, const float rgba[4])
{
	for (int i = 1; i < num; i++) {
		struct vertex *v = vertices_for(data, GL_LINES, 2);

		v[0] = vertex_at(xy[2 * i - 2], xy[2 * i - 1], rgba);
		v[1] = vertex_at(xy[2 * i], xy[2 * i + 1], rgba);
	}
}

static void draw_text(void *data, float x, float y, const char *text, const float rgba[4])
{
	Prof_Core *core = data;

	restore_state(core);
	core->text(core->text_data, x, y, text, rgba);
}

static float text_width(void *data, const char *text)
{
	const Prof_Core *core = data;

	return core->text_width(core->text_data, text);
}

static Prof_Device device_of(Prof_Core *core)
{
	return (Prof_Device){
		core, draw_rectangle, draw_line_strip, core->text ? draw_text : NULL, text_width};
}

void Prof_draw_core(Prof_Core *core, float sx, float sy, float width, float height,
	float line_spacing, int precision)
{
	Prof_Device device = device_of(core);

	Prof_draw_device(&device, sx, sy, width, height, line_spacing, precision);
	restore_state(core);
}

void Prof_draw_graph_core(Prof_Core *core, float sx, float sy, float x_per_frame, float y_per_ms)
{
	Prof_Device device = device_of(core);
	bool goes_to_top = (core->top > core->bottom) == (y_per_ms > 0);
	struct graph_place place = {sx, sy, goes_to_top ? core->top : core->bottom};

	graph_draw(&device, &place, x_per_frame, y_per_ms, 128);
	restore_state(core);
}
