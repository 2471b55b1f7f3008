/*
 * Looks up OpenGL functions by name, and sets the state of a core-profile context for drawing flat
 * colours.  Links with no OpenGL library: the program provides the look-up of its context's
 * functions.
 */
#include "zones_gl/core_gl.h"

/* Disabled while drawing, except the first. */
static const GLenum switches[] = {GL_BLEND, GL_COLOR_LOGIC_OP, GL_CULL_FACE, GL_DEPTH_TEST,
	GL_RASTERIZER_DISCARD, GL_SAMPLE_ALPHA_TO_COVERAGE, GL_STENCIL_TEST};
enum { SWITCHES = sizeof switches / sizeof switches[0] };
_Static_assert(SWITCHES == sizeof((struct core_state *)0)->enabled, "one for each");

const char *core_gl_load(struct core_gl *gl, Prof_Proc (*get_proc)(const char *name))
{
#define LOAD(type, name)                                                                           \
	gl->name = (PFNGL##type##PROC)get_proc("gl" #name);                                        \
	if (!gl->name)                                                                             \
		return "gl" #name;
	CORE_GL_FUNCTIONS(LOAD)
#undef LOAD
#define LOAD(result, name, arguments)                                                              \
	gl->name = (result(*) arguments)get_proc("gl" #name);                                      \
	if (!gl->name)                                                                             \
		return "gl" #name;
	CORE_GL_OLD_FUNCTIONS(LOAD)
#undef LOAD
	return NULL;
}

static void set_switch(const struct core_gl *gl, GLenum which, GLboolean on)
{
	if (on)
		gl->Enable(which);
	else
		gl->Disable(which);
}

void core_state_set(const struct core_gl *gl, struct core_state *saved)
{
	gl->GetIntegerv(GL_CURRENT_PROGRAM, &saved->program);
	gl->GetIntegerv(GL_VERTEX_ARRAY_BINDING, &saved->array);
	gl->GetIntegerv(GL_ARRAY_BUFFER_BINDING, &saved->buffer);
	gl->GetIntegerv(GL_BLEND_SRC_RGB, &saved->blend[0]);
	gl->GetIntegerv(GL_BLEND_DST_RGB, &saved->blend[1]);
	gl->GetIntegerv(GL_BLEND_SRC_ALPHA, &saved->blend[2]);
	gl->GetIntegerv(GL_BLEND_DST_ALPHA, &saved->blend[3]);
	gl->GetIntegerv(GL_BLEND_EQUATION_RGB, &saved->equation[0]);
	gl->GetIntegerv(GL_BLEND_EQUATION_ALPHA, &saved->equation[1]);
	gl->GetIntegerv(GL_POLYGON_MODE, saved->polygon);
	for (int i = 0; i < SWITCHES; i++) {
		saved->enabled[i] = gl->IsEnabled(switches[i]);
		set_switch(gl, switches[i], i == 0);
	}
	gl->BlendEquationSeparate(GL_FUNC_ADD, GL_FUNC_ADD);
	gl->BlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
	gl->PolygonMode(GL_FRONT_AND_BACK, GL_FILL);
}

void core_state_restore(const struct core_gl *gl, const struct core_state *saved)
{
	gl->PolygonMode(GL_FRONT_AND_BACK, (GLenum)saved->polygon[0]);
	gl->BlendFuncSeparate((GLenum)saved->blend[0], (GLenum)saved->blend[1],
		(GLenum)saved->blend[2], (GLenum)saved->blend[3]);
	gl->BlendEquationSeparate((GLenum)saved->equation[0], (GLenum)saved->equation[1]);
	for (int i = 0; i < SWITCHES; i++)
		set_switch(gl, switches[i], saved->enabled[i]);
	gl->BindBuffer(GL_ARRAY_BUFFER, (GLuint)saved->buffer);
	gl->BindVertexArray((GLuint)saved->array);
	gl->UseProgram((GLuint)saved->program);
}
