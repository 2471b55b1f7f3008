#ifndef SONDE_TESTS_DRAW_TAPE_H
#define SONDE_TESTS_DRAW_TAPE_H

/* A device for the displays of zones that writes down what it is to draw. */

#include <stdbool.h>

#include <prof_gl.h>

struct tape_box {
	float x0, y0, x1, y1, rgba[4]; /* 0 is the lesser */
};

struct tape_text {
	float x, y, rgba[4];
	char text[128];
};

struct tape_strip {
	int num;
	float xy[600], rgba[4];
};

struct tape {
	int boxes, texts, strips;
	int boxes_after_text;
	struct tape_box box[20000];
	struct tape_text text[500];
	struct tape_strip strip[50];
};

/* What was drawn; there is one. */
extern struct tape tape;
/* Each character of the text is 8 wide. */
extern const Prof_Device tape_with_text, tape_without_text;

void tape_erase(void);
/* The text of the tape that is this one; fails unless it is there, and once. */
const struct tape_text *tape_find(const char *text);
bool tape_has(const char *text);
/* The box that a point is in, the last drawn, if several; fails if none. */
const struct tape_box *tape_box_at(float x, float y);

#endif
