/*
 * The second thread waits for work, and the first for the second: each in a zone, so that the
 * report shows who was waiting.
 */
#include "team.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include <prof.h>

struct team {
	pthread_t helper;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	void (*work)(void *data, int half); /* NULL: done */
	void *data;
	bool ends;
};

static void *help(void *data)
{
	struct team *team = data;

	Prof_thread_name("helper");
	pthread_mutex_lock(&team->lock);
	for (;;) {
		Prof_Begin(wait_for_work) while (!team->work && !team->ends)
			pthread_cond_wait(&team->changed, &team->lock);
		Prof_End if (team->ends) break;
		pthread_mutex_unlock(&team->lock);
		team->work(team->data, 1);
		pthread_mutex_lock(&team->lock);
		team->work = NULL;
		pthread_cond_broadcast(&team->changed);
	}
	pthread_mutex_unlock(&team->lock);
	return NULL;
}

struct team *team_create(void)
{
	struct team *team = calloc(1, sizeof *team);

	if (!team)
		return NULL;
	pthread_mutex_init(&team->lock, NULL);
	pthread_cond_init(&team->changed, NULL);
	if (pthread_create(&team->helper, NULL, help, team) != 0) {
		free(team);
		return NULL;
	}
	return team;
}

void team_do(struct team *team, void (*work)(void *data, int half), void *data)
{
	pthread_mutex_lock(&team->lock);
	team->data = data;
	team->work = work;
	pthread_cond_broadcast(&team->changed);
	pthread_mutex_unlock(&team->lock);
	work(data, 0);

	Prof_Block(wait_for_helper);
	pthread_mutex_lock(&team->lock);
	while (team->work)
		pthread_cond_wait(&team->changed, &team->lock);
	pthread_mutex_unlock(&team->lock);
}

void team_destroy(struct team *team)
{
	pthread_mutex_lock(&team->lock);
	team->ends = true;
	pthread_cond_broadcast(&team->changed);
	pthread_mutex_unlock(&team->lock);
	pthread_join(team->helper, NULL);
	pthread_cond_destroy(&team->changed);
	pthread_mutex_destroy(&team->lock);
	free(team);
}
