/*
 * A window by X11 and GLX.  Core-profile contexts come from GLX_ARB_create_context; the server's
 * errors are not taken, so a context that it does not give ends the program with its message.
 */
#include "window.h"

#include <GL/glx.h>
#include <GL/glxext.h>
#include <X11/Xutil.h>

void (*window_proc(const char *name))(void)
{
	return glXGetProcAddressARB((const GLubyte *)name);
}

static GLXFBConfig choose_config(Display *display)
{
	static const int wanted[] = {GLX_X_RENDERABLE, True, GLX_DRAWABLE_TYPE, GLX_WINDOW_BIT,
		GLX_RENDER_TYPE, GLX_RGBA_BIT, GLX_RED_SIZE, 8, GLX_GREEN_SIZE, 8, GLX_BLUE_SIZE, 8,
		GLX_DOUBLEBUFFER, True, None};
	int count = 0;
	GLXFBConfig *configs = glXChooseFBConfig(display, DefaultScreen(display), wanted, &count);
	GLXFBConfig config = count ? configs[0] : NULL;

	if (configs)
		XFree(configs);
	return config;
}

static GLXContext make_context(Display *display, GLXFBConfig config, bool is_core)
{
	static const int wanted[] = {GLX_CONTEXT_MAJOR_VERSION_ARB, 3,
		GLX_CONTEXT_MINOR_VERSION_ARB, 2, GLX_CONTEXT_PROFILE_MASK_ARB,
		GLX_CONTEXT_CORE_PROFILE_BIT_ARB, None};
	PFNGLXCREATECONTEXTATTRIBSARBPROC create =
		(PFNGLXCREATECONTEXTATTRIBSARBPROC)window_proc("glXCreateContextAttribsARB");

	if (!is_core)
		return glXCreateNewContext(display, config, GLX_RGBA_TYPE, NULL, True);
	return create ? create(display, config, NULL, True, wanted) : NULL;
}

static void make_window(struct window *w, const XVisualInfo *visual)
{
	Window root = RootWindow(w->display, visual->screen);
	XSetWindowAttributes attributes = {
		.colormap = XCreateColormap(w->display, root, visual->visual, AllocNone),
		.event_mask = KeyPressMask | StructureNotifyMask,
	};

	w->window = XCreateWindow(w->display, root, 0, 0, (unsigned)w->width, (unsigned)w->height,
		0, visual->depth, InputOutput, visual->visual, CWColormap | CWEventMask,
		&attributes);
	w->delete_window = XInternAtom(w->display, "WM_DELETE_WINDOW", False);
	XSetWMProtocols(w->display, w->window, &w->delete_window, 1);
	XMapWindow(w->display, w->window);
}

static const char *open_on_display(struct window *w, bool is_core)
{
	GLXFBConfig config = choose_config(w->display);
	XVisualInfo *visual = config ? glXGetVisualFromFBConfig(w->display, config) : NULL;

	if (!visual)
		return "the X server has no OpenGL";
	make_window(w, visual);
	XFree(visual);
	w->context = make_context(w->display, config, is_core);
	if (!w->context)
		return is_core ? "there is no OpenGL 3.2 core profile" : "there is no OpenGL";
	if (!glXMakeCurrent(w->display, w->window, w->context))
		return "OpenGL cannot draw into the window";
	return NULL;
}

const char *window_open(struct window *w, bool is_core, int width, int height)
{
	const char *why;

	*w = (struct window){.display = XOpenDisplay(NULL), .width = width, .height = height};
	if (!w->display)
		return "there is no X server (DISPLAY)";
	why = open_on_display(w, is_core);
	if (why)
		window_close(w);
	return why;
}

KeySym window_key(struct window *w)
{
	while (XPending(w->display)) {
		XEvent event;

		XNextEvent(w->display, &event);
		if (event.type == KeyPress)
			return XLookupKeysym(&event.xkey, 0);
		if (event.type == ClientMessage &&
			(Atom)event.xclient.data.l[0] == w->delete_window)
			w->is_closed = true;
		if (event.type == ConfigureNotify) {
			w->width = event.xconfigure.width;
			w->height = event.xconfigure.height;
		}
	}
	return 0;
}

void window_title(struct window *w, const char *title)
{
	XStoreName(w->display, w->window, title);
}

void window_show(struct window *w)
{
	glXSwapBuffers(w->display, w->window);
}

void window_close(struct window *w)
{
	if (w->context) {
		glXMakeCurrent(w->display, None, NULL);
		glXDestroyContext(w->display, w->context);
	}
	XCloseDisplay(w->display);
}
