#ifndef SONDE_EXAMPLES_ZONES_WINDOW_TEAM_H
#define SONDE_EXAMPLES_ZONES_WINDOW_TEAM_H

/* Two threads that do the two halves of a thing. */
struct team;

struct team *team_create(void);
/* work(data, 0) here and work(data, 1) in the other thread; back when both are done. */
void team_do(struct team *team, void (*work)(void *data, int half), void *data);
void team_destroy(struct team *team);

#endif
