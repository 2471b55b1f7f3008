/*
 * Text and colours, for report and graph.  The hash and the colours are IProf's, so that a zone has
 * the same colour in each run and in each program.
 */
#include "zones_gl/paint.h"

#include <math.h>

#include "zones_gl/font.h"
#include "zones_gl/glyphs.h"

struct paint paint_on(const Prof_Device *device, float line_spacing)
{
	float size = fabsf(line_spacing) / GLYPH_LINE;

	/* In pixels, only whole dots are sharp; other units are unknown. */
	if (size >= 1)
		size = floorf(size);
	return (struct paint){.device = device, .dot = line_spacing < 0 ? -size : size};
}

float paint_width(const struct paint *p, const char *text)
{
	if (p->device->text)
		return p->device->text_width(p->device->data, text);
	return (float)font_width(text) * fabsf(p->dot);
}

void paint_text(const struct paint *p, float x, float y, const char *text, const float rgba[4])
{
	if (p->device->text) {
		p->device->text(p->device->data, x, y, text, rgba);
		return;
	}
	if (fabsf(p->dot) >= 1) {
		x = roundf(x);
		y = roundf(y);
	}
	font_draw(p->device, x, y, p->dot, text, rgba);
}

void paint_rectangle(
	const struct paint *p, float x0, float y0, float x1, float y1, const float rgba[4])
{
	p->device->rectangle(p->device->data, x0, y0, x1, y1, rgba);
}

unsigned zone_hash(const char *name)
{
	unsigned h = 0x55555555;

	for (; *name; name++)
		h = (h << 5) + (h >> 27) + (unsigned)*name;
	return h ? h : 1;
}

void zone_colour(unsigned hash, float rgba[4])
{
	static const unsigned factor[3] = {37, 59, 45};

	hash += (unsigned)((int)hash >> 8);
	for (int i = 0; i < 3; i++)
		rgba[i] = (float)((hash * factor[i] & 127) + 80) / 255;
	rgba[3] = 1;
}
