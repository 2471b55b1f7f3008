#ifndef SONDE_ZONES_GL_FONT_H
#define SONDE_ZONES_GL_FONT_H

#include <prof_gl.h>

/* The width of the text in dots; a UTF-8 sequence is one glyph. */
int font_width(const char *text);
/*
 * Draws it with the device's rectangles.  A dot is `dot` wide and high; its sign is the direction
 * of rows: if positive, the next row has a greater y.
 */
void font_draw(const Prof_Device *device, float x, float y, float dot, const char *text,
	const float rgba[4]);

#endif
