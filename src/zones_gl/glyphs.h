#ifndef SONDE_ZONES_GL_GLYPHS_H
#define SONDE_ZONES_GL_GLYPHS_H

/* The font's glyphs, as rows of dots: see glyphs.c. */
enum {
	GLYPHS = 96, /* from the space on; the last stands for what there is no glyph of */
	GLYPH_WIDTH = 5,
	GLYPH_ADVANCE = 6,
	GLYPH_ASCENT = 7, /* rows above the base line */
	GLYPH_LINE = 10	  /* of the line spacing that the font is made for */
};

extern const char *const glyphs[GLYPHS];

#endif
