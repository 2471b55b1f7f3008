#ifndef SONDE_EXAMPLES_ZONES_WINDOW_WINDOW_H
#define SONDE_EXAMPLES_ZONES_WINDOW_WINDOW_H

#include <X11/Xlib.h>
#include <X11/keysym.h>
#include <stdbool.h>

/* A window with an OpenGL context, by X11 and GLX alone. */
struct window {
	Display *display;
	Window window;
	void *context;	    /* GLXContext */
	Atom delete_window; /* what the frame's close button says */
	int width, height;
	bool is_closed;
};

/* core: an OpenGL 3.2 core-profile context, else a legacy one.  NULL, or why not: a text that
 * stays. */
const char *window_open(struct window *window, bool is_core, int width, int height);
/* The next key that was pressed; 0: none (now). */
KeySym window_key(struct window *window);
void window_title(struct window *window, const char *title);
void window_show(struct window *window);
void window_close(struct window *window);
/* A function of OpenGL by its name. */
void (*window_proc(const char *name))(void);

#endif
