#ifndef PROF_GL_H
#define PROF_GL_H

/*
 * The displays of Prof_draw_gl and Prof_draw_graph_gl on other devices: OpenGL's core profile, and
 * any device that can fill rectangles and draw lines.  In libsonde-zones-gl.  Positions and sizes
 * are in the device's coordinates, times in milliseconds.
 */

#include "prof_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- any device ---- */

/*
 * The functions that draw the displays.  Colours are red, green, blue and alpha, from 0 to 1, not
 * premultiplied.  All rectangles are drawn first, then all texts.  Arguments are valid only during
 * the call.
 */
typedef struct Prof_Device {
	void *data; /* passed to the functions */
	void (*rectangle)(void *data, float x0, float y0, float x1, float y1, const float rgba[4]);
	/* Lines from each of num points (x, y) to the next; num is at least 2. */
	void (*line_strip)(void *data, const float *xy, int num, const float rgba[4]);
	/* The text's baseline begins at (x, y).  NULL: a font made of rectangles. */
	void (*text)(void *data, float x, float y, const char *text, const float rgba[4]);
	/* Returns a text's width; called only if text is not NULL. */
	float (*text_width)(void *data, const char *text);
} Prof_Device;

/* Draws the report; the other parameters are as in Prof_draw_gl. */
Prof_API_ void Prof_draw_report(const Prof_Device *device, const Prof_Report *report, float sx,
	float sy, float width, float height, float line_spacing, int precision);
/* The same for the current report, with the current mode, cursor and frame. */
Prof_API_ void Prof_draw_device(const Prof_Device *device, float sx, float sy, float width,
	float height, float line_spacing, int precision);
/*
 * Draws the graph of the last num_frames frames: one line for each zone, in the colour that marks
 * its rows in the report.  Use a negative y_per_ms if y grows downwards.
 */
Prof_API_ void Prof_draw_graph_device(const Prof_Device *device, float sx, float sy,
	float x_per_frame, float y_per_ms, int num_frames);

/* ---- OpenGL 3.2 and later, core profile ---- */

typedef struct Prof_Core Prof_Core;
typedef void (*Prof_Proc)(void);

/*
 * Creates the shader program, buffer and vertex array for drawing in the current context. get_proc
 * returns the context's functions by name, as glXGetProcAddressARB, eglGetProcAddress,
 * glfwGetProcAddress and SDL's SDL_GL_GetProcAddress do.  Returns NULL if the context does not
 * support this; *why (unless why is NULL) is then a static text with the reason.  The caller owns
 * the result.
 */
Prof_API_ Prof_Core *Prof_core_create(Prof_Proc (*get_proc)(const char *name), const char **why);
/* Call it in the same context; core may be NULL. */
Prof_API_ void Prof_core_destroy(Prof_Core *core);
/*
 * Sets the coordinates of the viewport's edges.  The default is -1 to 1; for pixels from the top
 * left corner, pass 0, width, height, 0.
 */
Prof_API_ void Prof_core_view(Prof_Core *core, float left, float right, float bottom, float top);
/*
 * Sets the program's own text functions, as in Prof_Device, called with the program's own context
 * state.  NULL (default): the font made of rectangles.
 */
Prof_API_ void Prof_core_text(Prof_Core *core,
	void (*text)(void *data, float x, float y, const char *text, const float rgba[4]),
	float (*text_width)(void *data, const char *text), void *data);
/* Like Prof_draw_gl and Prof_draw_graph_gl; use alpha blending, and restore the context's state. */
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
