/*
 * What a display draws, written down: boxes, texts and lines, with their places and colours.
 */
#include "draw_tape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

struct tape tape;

static void record_box(void *data, float x0, float y0, float x1, float y1, const float rgba[4])
{
	struct tape *t = data;
	struct tape_box *b = &t->box[t->boxes++];

	assert_in_range(t->boxes, 1, 20000);
	*b = (struct tape_box){fminf(x0, x1), fminf(y0, y1), fmaxf(x0, x1), fmaxf(y0, y1), {0}};
	memcpy(b->rgba, rgba, sizeof b->rgba);
	t->boxes_after_text += t->texts > 0;
}

static void record_text(void *data, float x, float y, const char *text, const float rgba[4])
{
	struct tape *t = data;
	struct tape_text *to = &t->text[t->texts++];

	assert_in_range(t->texts, 1, 500);
	assert_in_range(strlen(text), 0, sizeof to->text - 1);
	to->x = x;
	to->y = y;
	strcpy(to->text, text);
	memcpy(to->rgba, rgba, sizeof to->rgba);
}

static float record_width(void *data, const char *text)
{
	(void)data;
	return 8 * (float)strlen(text);
}

static void record_strip(void *data, const float *xy, int num, const float rgba[4])
{
	struct tape *t = data;
	struct tape_strip *s = &t->strip[t->strips++];

	assert_in_range(t->strips, 1, 50);
	assert_in_range(num, 2, 300);
	s->num = num;
	memcpy(s->xy, xy, sizeof(float) * 2 * (size_t)num);
	memcpy(s->rgba, rgba, sizeof s->rgba);
}

const Prof_Device tape_with_text = {&tape, record_box, record_strip, record_text, record_width};
const Prof_Device tape_without_text = {&tape, record_box, record_strip, NULL, NULL};

void tape_erase(void)
{
	memset(&tape, 0, sizeof tape);
}

const struct tape_text *tape_find(const char *text)
{
	const struct tape_text *found = NULL;

	for (int i = 0; i < tape.texts; i++)
		if (strcmp(tape.text[i].text, text) == 0) {
			if (found)
				fail_msg("'%s' is there twice", text);
			found = &tape.text[i];
		}
	if (!found)
		fail_msg("there is no '%s'", text);
	return found;
}

bool tape_has(const char *text)
{
	for (int i = 0; i < tape.texts; i++)
		if (strcmp(tape.text[i].text, text) == 0)
			return true;
	return false;
}

const struct tape_box *tape_box_at(float x, float y)
{
	for (int i = tape.boxes - 1; i >= 0; i--) {
		const struct tape_box *b = &tape.box[i];

		if (b->x0 <= x && x < b->x1 && b->y0 <= y && y < b->y1)
			return b;
	}
	fail_msg("no box at %g, %g", (double)x, (double)y);
	return NULL;
}
