#ifndef SONDE_EXAMPLES_ZONES_WINDOW_PICTURE_H
#define SONDE_EXAMPLES_ZONES_WINDOW_PICTURE_H

#include <stdbool.h>

#include <prof_gl.h>

/* Shows pixels, in either kind of context. */
struct picture;

/* find: OpenGL's functions.  NULL: no memory, or the context cannot. */
struct picture *picture_create(
	int width, int height, bool is_core, Prof_Proc (*find)(const char *name));
/* Fills the window, of that size, with the picture, whose first row is the top one. */
void picture_show(struct picture *picture, const unsigned char *rgba, int width, int height);
void picture_destroy(struct picture *picture);

#endif
