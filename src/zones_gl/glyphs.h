#ifndef SONDE_ZONES_GL_GLYPHS_H
#define SONDE_ZONES_GL_GLYPHS_H

/* The font's glyphs, as rows of dots: see glyphs.c. */
enum {
	GLYPHS = 96, /* from the space on; the last is for characters without a glyph */
	GLYPH_WIDTH = 5,
	GLYPH_ADVANCE = 6,
	GLYPH_ASCENT = 7, /* rows above the baseline */
	GLYPH_LINE = 10	  /* the line spacing that the font is designed for */
};

extern const char *const glyphs[GLYPHS];

#endif
