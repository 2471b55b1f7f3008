/*
 * A font without textures: a glyph's dots are rectangles, with adjacent dots merged.  So any device
 * can draw it, it leaves no state behind, and is sharp at integer sizes.
 */
#include "zones_gl/font.h"

#include "zones_gl/glyphs.h"

/* The glyph of the character at *text; advances *text. */
static const char *next_glyph(const char **text)
{
	unsigned char c = (unsigned char)*(*text)++;

	if (c >= 0x80)
		while (((unsigned char)**text & 0xc0) == 0x80)
			(*text)++;
	return c >= 32 && c < 127 ? glyphs[c - 32] : glyphs[GLYPHS - 1];
}

int font_width(const char *text)
{
	int count = 0;

	while (*text) {
		next_glyph(&text);
		count++;
	}
	return count * GLYPH_ADVANCE;
}

/* Draws a glyph; x and y are its top left corner. */
static void draw_glyph(const Prof_Device *device, float x, float y, float dot, const char *glyph,
	const float rgba[4])
{
	float width = dot < 0 ? -dot : dot;
	int column = 0;

	while (*glyph) {
		int run = 0;

		while (glyph[run] == '#')
			run++;
		if (run)
			device->rectangle(device->data, x + (float)column * width, y,
				x + (float)(column + run) * width, y + dot, rgba);
		glyph += run;
		column += run;
		if (*glyph == ' ') {
			column = 0;
			y += dot;
			glyph++;
		} else if (*glyph) {
			column++;
			glyph++;
		}
	}
}

void font_draw(const Prof_Device *device, float x, float y, float dot, const char *text,
	const float rgba[4])
{
	float advance = (dot < 0 ? -dot : dot) * GLYPH_ADVANCE;

	while (*text) {
		draw_glyph(device, x, y - GLYPH_ASCENT * dot, dot, next_glyph(&text), rgba);
		x += advance;
	}
}
