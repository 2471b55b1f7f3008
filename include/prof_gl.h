#ifndef PROF_GL_H
#define PROF_GL_H

/*
 * The displays of Prof_draw_gl and Prof_draw_graph_gl on other devices: OpenGL's core profile, and
 * whatever can fill a rectangle and draw a line.  In libsonde-zones-gl.
 */

#include "prof_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- any device ---- */

/*
 * What the displays are drawn with.  Colours are red, green, blue and alpha, 0 to 1, alpha not
 * multiplied in.  First come all rectangles, then all texts.
 */
typedef struct Prof_Device {
	void *data; /* handed to the functions */
	void (*rectangle)(void *data, float x0, float y0, float x1, float y1, const float rgba[4]);
	/* Lines from each of num points (x, y) to the next; num is at least 2. */
	void (*line_strip)(void *data, const float *xy, int num, const float rgba[4]);
	/* The text's base line begins at (x, y).  NULL: a font made of rectangles. */
	void (*text)(void *data, float x, float y, const char *text, const float rgba[4]);
	/* How wide a text is; asked only where there is text. */
	float (*text_width)(void *data, const char *text);
} Prof_Device;

/* Draws that report; the other parameters as in Prof_draw_gl. */
Prof_API_ void Prof_draw_report(const Prof_Device *device, const Prof_Report *report, float sx,
	float sy, float width, float height, float line_spacing, int precision);
/* The same for the report as mode, cursor and frame are set. */
Prof_API_ void Prof_draw_device(const Prof_Device *device, float sx, float sy, float width,
	float height, float line_spacing, int precision);
/*
 * The graph of the last num_frames frames: one line for each zone, in the colour that marks its
 * rows in the report.  y_per_ms negative: upwards where y grows downwards.
 */
Prof_API_ void Prof_draw_graph_device(const Prof_Device *device, float sx, float sy,
	float x_per_frame, float y_per_ms, int num_frames);

/* ---- OpenGL from 3.2 on, core profile ---- */

typedef struct Prof_Core Prof_Core;
typedef void (*Prof_Proc)(void);

/*
 * The program, buffer and vertex array to draw with, in the current context.  get_proc gives the
 * context's functions by name, as glXGetProcAddressARB, eglGetProcAddress, glfwGetProcAddress and
 * SDL_GL_GetProcAddress do.  NULL: the context cannot do it; *why (unless why is NULL) says what it
 * lacks, a text that stays.
 */
Prof_API_ Prof_Core *Prof_core_create(Prof_Proc (*get_proc)(const char *name), const char **why);
/* In the same context; core may be NULL. */
Prof_API_ void Prof_core_destroy(Prof_Core *core);
/*
 * The coordinates of the viewport's edges.  At first -1 to 1; for pixels from the top left corner
 * on: 0, width, height, 0.
 */
Prof_API_ void Prof_core_view(Prof_Core *core, float left, float right, float bottom, float top);
/*
 * Text of the program's own: text and text_width as in Prof_Device, called with the context's state
 * as it was.  NULL (at first): the font made of rectangles.
 */
Prof_API_ void Prof_core_text(Prof_Core *core,
	void (*text)(void *data, float x, float y, const char *text, const float rgba[4]),
	float (*text_width)(void *data, const char *text), void *data);
/* As Prof_draw_gl and Prof_draw_graph_gl; blends by alpha; leaves the context's state as it was. */
Prof_API_ void Prof_draw_core(Prof_Core *core, float sx, float sy, float width, float height,
	float line_spacing, int precision);
Prof_API_ void Prof_draw_graph_core(
	Prof_Core *core, float sx, float sy, float x_per_frame, float y_per_ms);

#ifdef __cplusplus
}
#endif

#ifndef Prof_ENABLED
/* Nothing, as in prof_off.h. */
#define Prof_draw_report(...)	    ((void)0)
#define Prof_draw_device(...)	    ((void)0)
#define Prof_draw_graph_device(...) ((void)0)
#define Prof_core_create(...)	    Prof_AS_(Prof_Core *, Prof_NULL_)
#define Prof_core_destroy(core)	    Prof_no_value_(core)
#define Prof_core_view(...)	    ((void)0)
#define Prof_core_text(...)	    ((void)0)
#define Prof_draw_core(...)	    ((void)0)
#define Prof_draw_graph_core(...)   ((void)0)
#endif

#endif
