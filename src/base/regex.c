/*
 * Regular expressions run: all ways through the program at once, character by character, each step
 * at most once a character (K. Thompson, "Regular Expression Search Algorithm", CACM 11(6), 1968;
 * the program as in R. Cox, "Regular Expression Matching: the Virtual Machine Approach").
 */
#include "base/regex.h"

#include <stdlib.h>

#include "base/escape.h"
#include "base/regex_program.h"

struct error *regex_create(struct str pattern, struct regex **regex)
{
	struct regex *r = xalloc(sizeof(*r));
	struct error *err = regex_parse(r, pattern);

	if (err)
		regex_destroy(r);
	else
		*regex = r;
	return err;
}

void regex_destroy(struct regex *regex)
{
	if (regex == NULL)
		return;
	vec_deinit(&regex->steps);
	vec_deinit(&regex->ranges);
	free(regex);
}

/* A set of steps. */
struct places {
	uint32_t *at;
	size_t count;
};

struct run {
	const struct regex *regex;
	struct places now, next;
	uint64_t *seen; /* [step]: the round in which it was entered last */
	uint64_t round;
	VEC(uint32_t) todo;
	uint64_t *work;
	int32_t before, after; /* the characters here; -1: there is none */
};

static bool is_word(int32_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       c == '_';
}

static bool holds(const struct run *run, enum regex_op op)
{
	switch (op) {
	case REGEX_BEGIN:
		return run->before < 0;
	case REGEX_END:
		return run->after < 0;
	case REGEX_BOUNDARY:
		return is_word(run->before) != is_word(run->after);
	case REGEX_NO_BOUNDARY:
		return is_word(run->before) == is_word(run->after);
	case REGEX_SET:
	case REGEX_SPLIT:
	case REGEX_JUMP:
	case REGEX_MATCH:
		break;
	}
	return false;
}

/* Enters a step, and those that it leads to without a character. */
static void enter(struct run *run, struct places *places, uint32_t first)
{
	run->todo.count = 0;
	vec_push(&run->todo, first);
	while (run->todo.count && *run->work) {
		uint32_t i = run->todo.data[--run->todo.count];
		const struct regex_step *step = &run->regex->steps.data[i];

		if (run->seen[i] == run->round)
			continue;
		run->seen[i] = run->round;
		--*run->work;
		if (step->op == REGEX_SET || step->op == REGEX_MATCH) {
			places->at[places->count++] = i;
		} else if (step->op == REGEX_SPLIT) {
			vec_push(&run->todo, i + (uint32_t)step->b);
			vec_push(&run->todo, i + (uint32_t)step->a);
		} else if (step->op == REGEX_JUMP) {
			vec_push(&run->todo, i + (uint32_t)step->a);
		} else if (holds(run, step->op)) {
			vec_push(&run->todo, i + 1);
		}
	}
}

static bool in_set(struct run *run, const struct regex_step *step, int32_t c)
{
	const struct regex_range *range = &run->regex->ranges.data[step->a];

	for (int32_t i = 0; i < step->b && *run->work; i++) {
		--*run->work;
		if (c >= range[i].low && c <= range[i].high)
			return true;
	}
	return false;
}

/* The first character of text, taken off; -1 at its end.  What is no UTF-8 is U+FFFD. */
static int32_t take_character(struct str *text)
{
	int32_t c;

	if (text->size == 0)
		return -1;
	size_t size = utf8_decode(*text, &c);
	*text = (struct str){text->data + size, text->size - size};
	return c < 0 ? 0xfffd : c;
}

static bool run_text(struct run *run, struct str text)
{
	run->before = -1;
	run->after = take_character(&text);
	run->round = 1;
	enter(run, &run->now, 0);
	while (run->after >= 0 && run->now.count && *run->work) {
		int32_t c = run->after;

		run->before = c;
		run->after = take_character(&text);
		run->round++;
		run->next.count = 0;
		for (size_t i = 0; i < run->now.count; i++) {
			const struct regex_step *step = &run->regex->steps.data[run->now.at[i]];
			if (step->op == REGEX_SET && in_set(run, step, c))
				enter(run, &run->next, run->now.at[i] + 1);
		}
		struct places last = run->now;
		run->now = run->next;
		run->next = last;
	}
	if (run->after >= 0 || *run->work == 0)
		return false;
	for (size_t i = 0; i < run->now.count; i++)
		if (run->regex->steps.data[run->now.at[i]].op == REGEX_MATCH)
			return true;
	return false;
}

bool regex_matches(const struct regex *regex, struct str text, uint64_t *work)
{
	size_t steps = regex->steps.count;

	/* What is cleared for a text takes time, too, however short that is. */
	if (*work <= steps / 2) {
		*work = 0;
		return false;
	}
	*work -= steps / 2;
	struct run run = {.regex = regex,
		.now.at = xcalloc(steps, sizeof(uint32_t)),
		.next.at = xcalloc(steps, sizeof(uint32_t)),
		.seen = xcalloc(steps, sizeof(uint64_t)),
		.work = work};
	bool result = run_text(&run, text);

	free(run.now.at);
	free(run.next.at);
	free(run.seen);
	vec_deinit(&run.todo);
	return result;
}
