/*
 * Stands in for the game of docs/zones.md, with the zones that it is given there: a recursion that
 * draws, a picture that is copied, and at the start frames that wait for a clock.  With -timedemo
 * it ends after 200 frames, else it goes on until it is killed.
 */
#include <prof.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WIPES = 5, FRAMES = 200, DEPTH = 6, PIXELS = 320 * 200 };

static volatile unsigned char picture[PIXELS], window[4 * PIXELS];

static void wait_ms(long ms)
{
	struct timespec time = {0, ms * 1000000};

	nanosleep(&time, NULL);
}

static void R_Subsector(int number)
{
	Prof_Block(subsector);

	for (int i = 0; i < PIXELS / 64; i++)
		picture[(number * 997 + i) % PIXELS]++;
}

static void R_RenderBSPNode(int depth, int number)
{
	Prof_Block(bsp_node);

	if (depth == DEPTH) {
		R_Subsector(number);
		return;
	}
	R_RenderBSPNode(depth + 1, 2 * number);
	R_RenderBSPNode(depth + 1, 2 * number + 1);
}

static void R_RenderPlayerView(void)
{
	Prof_Block(view);

	R_RenderBSPNode(0, 1);
}

static void D_Display(void)
{
	Prof_Block(display);

	R_RenderPlayerView();
}

static void I_FinishUpdate(void)
{
	Prof_Block(finish_update);

	for (int i = 0; i < 4 * PIXELS; i++)
		window[i] = picture[i / 4];
}

static void D_RunFrame(int number)
{
	if (number < WIPES) {
		Prof_Block(wipe);

		wait_ms(28);
		I_FinishUpdate();
		return;
	}
	D_Display();
	I_FinishUpdate();
}

int main(int count, char **argument)
{
	int is_endless = count < 4 || strcmp(argument[3], "-timedemo");

	for (int i = 0; i < FRAMES || is_endless; i++) {
		D_RunFrame(i);
		if (is_endless)
			wait_ms(5);
		Prof_update(1);
	}
	return 0;
}
