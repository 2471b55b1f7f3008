#ifndef SONDE_ZONES_GL_CORE_GL_H
#define SONDE_ZONES_GL_CORE_GL_H

#include <GL/gl.h>
#include <GL/glext.h>
#include <stdbool.h>

#include <prof_gl.h>

/* The OpenGL functions that the core back end uses: type name and function name. */
#define CORE_GL_FUNCTIONS(X)                                                                       \
	X(ATTACHSHADER, AttachShader)                                                              \
	X(BINDBUFFER, BindBuffer)                                                                  \
	X(BINDVERTEXARRAY, BindVertexArray)                                                        \
	X(BLENDEQUATIONSEPARATE, BlendEquationSeparate)                                            \
	X(BLENDFUNCSEPARATE, BlendFuncSeparate)                                                    \
	X(BUFFERDATA, BufferData)                                                                  \
	X(COMPILESHADER, CompileShader)                                                            \
	X(CREATEPROGRAM, CreateProgram)                                                            \
	X(CREATESHADER, CreateShader)                                                              \
	X(DELETEBUFFERS, DeleteBuffers)                                                            \
	X(DELETEPROGRAM, DeleteProgram)                                                            \
	X(DELETESHADER, DeleteShader)                                                              \
	X(DELETEVERTEXARRAYS, DeleteVertexArrays)                                                  \
	X(ENABLEVERTEXATTRIBARRAY, EnableVertexAttribArray)                                        \
	X(GENBUFFERS, GenBuffers)                                                                  \
	X(GENVERTEXARRAYS, GenVertexArrays)                                                        \
	X(GETPROGRAMIV, GetProgramiv)                                                              \
	X(GETUNIFORMLOCATION, GetUniformLocation)                                                  \
	X(BINDATTRIBLOCATION, BindAttribLocation)                                                  \
	X(LINKPROGRAM, LinkProgram)                                                                \
	X(SHADERSOURCE, ShaderSource)                                                              \
	X(UNIFORM4F, Uniform4f)                                                                    \
	X(USEPROGRAM, UseProgram)                                                                  \
	X(VERTEXATTRIBPOINTER, VertexAttribPointer)
/* Functions of version 1.1, whose types have no names in the headers. */
#define CORE_GL_OLD_FUNCTIONS(X)                                                                   \
	X(void, Disable, (GLenum))                                                                 \
	X(void, DrawArrays, (GLenum, GLint, GLsizei))                                              \
	X(void, Enable, (GLenum))                                                                  \
	X(GLenum, GetError, (void))                                                                \
	X(void, GetIntegerv, (GLenum, GLint *))                                                    \
	X(const GLubyte *, GetString, (GLenum))                                                    \
	X(GLboolean, IsEnabled, (GLenum))                                                          \
	X(void, PolygonMode, (GLenum, GLenum))

struct core_gl {
#define MEMBER(type, name) PFNGL##type##PROC name;
	CORE_GL_FUNCTIONS(MEMBER)
#undef MEMBER
#define MEMBER(result, name, arguments) result(*name) arguments;
	CORE_GL_OLD_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* Looks up all of them; returns the name of the first missing one, else NULL. */
const char *core_gl_load(struct core_gl *gl, Prof_Proc (*get_proc)(const char *name));

/* The part of the context's state that drawing changes. */
struct core_state {
	GLboolean enabled[7]; /* in the order of core_gl.c */
	GLint program, array, buffer;
	GLint blend[4], equation[2], polygon[2];
};

/* Saves the state, and sets one for drawing flat colours, blended by alpha. */
void core_state_set(const struct core_gl *gl, struct core_state *saved);
void core_state_restore(const struct core_gl *gl, const struct core_state *saved);

#endif
