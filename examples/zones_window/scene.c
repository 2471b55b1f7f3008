/*
 * The galaxies: what they weigh, how they begin, and how they are painted.  How much work a frame
 * is changes as they fall into each other, and every hundredth frame adds up the energy, which
 * takes long: a frame to find in the graph.
 */
#include "scene.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include <prof.h>

#include "team.h"
#include "tree.h"

enum { BODIES = 1500, FRAMES = 900, SURVEY = 100 };

#define ZOOM 1.3f

struct scene {
	int width, height;
	unsigned char *picture;
	struct body bodies[BODIES];
	struct tree tree;
	struct team *team;
	int frame;
	uint32_t seed;
	double energy;
};

static float chance(struct scene *s)
{
	s->seed = s->seed * 1664525 + 1013904223;
	return (float)(s->seed >> 8) / 16777216;
}

/* A heavy middle, and bodies that circle around it. */
static void add_galaxy(struct scene *s, int first, int count, float x, float y, float vx, float vy)
{
	const float heart = 6000;

	s->bodies[first] = (struct body){.x = x, .y = y, .vx = vx, .vy = vy, .mass = heart};
	for (int i = first + 1; i < first + count; i++) {
		float angle = 6.2831853f * chance(s), far = 12 + 110 * chance(s);
		float speed = sqrtf(heart / far);

		s->bodies[i] = (struct body){.x = x + far * cosf(angle),
			.y = y + far * sinf(angle),
			.vx = vx - speed * sinf(angle),
			.vy = vy + speed * cosf(angle),
			.mass = .5f + chance(s)};
	}
}

static void begin(struct scene *s)
{
	add_galaxy(s, 0, BODIES * 2 / 3, -130, -60, 3.2f, .9f);
	add_galaxy(s, BODIES * 2 / 3, BODIES / 3, 150, 80, -4.5f, -1.4f);
}

struct scene *scene_create(int width, int height)
{
	struct scene *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->width = width;
	s->height = height;
	s->seed = 1;
	s->picture = calloc((size_t)width * (size_t)height, 4);
	s->team = team_create();
	if (!s->picture || !s->team) {
		scene_destroy(s);
		return NULL;
	}
	begin(s);
	return s;
}

static void attract_half(void *data, int half)
{
	Prof_Block(attract_half);
	const struct scene *s = data;

	tree_attract(&s->tree, half, .7f);
}

static void move(struct scene *s)
{
	Prof_Block(move);
	const float step = .12f;

	for (int i = 0; i < BODIES; i++) {
		struct body *b = &s->bodies[i];

		b->vx += b->ax * step;
		b->vy += b->ay * step;
		b->x += b->vx * step;
		b->y += b->vy * step;
	}
}

/* What was there grows darker, so that bodies have tails. */
static void fade_half(void *data, int half)
{
	Prof_Block(fade);
	struct scene *s = data;
	size_t size = (size_t)s->width * (size_t)s->height * 4 / 8 * 4;
	unsigned char *from = s->picture + (half ? size : 0);

	for (size_t i = 0; i < size; i++)
		from[i] = (unsigned char)(from[i] * 232 >> 8);
}

static void light(struct scene *s, int x, int y, int red, int green, int blue)
{
	int add[3] = {red, green, blue};
	unsigned char *at = s->picture + 4 * ((ptrdiff_t)y * s->width + x);

	if (x < 0 || y < 0 || x >= s->width || y >= s->height)
		return;
	for (int i = 0; i < 3; i++)
		at[i] = (unsigned char)(at[i] + add[i] > 255 ? 255 : at[i] + add[i]);
}

static void paint(struct scene *s)
{
	Prof_Block(paint);
	team_do(s->team, fade_half, s);
	Prof_Begin(bodies) for (int i = 0; i < BODIES; i++)
	{
		const struct body *b = &s->bodies[i];
		int speed = (int)fminf(fabsf(b->vx) + fabsf(b->vy), 40) * 2;
		int size = b->mass > 100 ? 4 : 2;
		/* Far away they are nowhere. */
		float x = fmaxf(fminf(b->x * ZOOM, 1e6f), -1e6f);
		float y = fmaxf(fminf(b->y * ZOOM, 1e6f), -1e6f);

		for (int v = 0; v < size; v++)
			for (int u = 0; u < size; u++)
				light(s, s->width * 3 / 4 + (int)x + u,
					s->height * 2 / 5 + (int)y + v, 90 + speed, 90,
					200 - speed);
	}
	Prof_End
}

const unsigned char *scene_step(struct scene *s)
{
	Prof_Block(scene);

	tree_build(&s->tree, s->bodies, BODIES);
	team_do(s->team, attract_half, s);
	move(s);
	paint(s);
	s->frame++;
	if (s->frame % SURVEY == 0) {
		s->energy = tree_energy(&s->tree);
		Prof_number(s->energy);
	}
	if (s->frame % FRAMES == 0)
		begin(s);
	return s->picture;
}

void scene_destroy(struct scene *s)
{
	if (s->team)
		team_destroy(s->team);
	tree_deinit(&s->tree);
	free(s->picture);
	free(s);
}
