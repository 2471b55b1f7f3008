/*
 * Labels of samples.  In a set, labels are in the order of their numbers in the file, which is that
 * of first sight; there are as many sets as pairs that were seen.
 */
#include "record/sample_labels.h"

#include <stdbool.h>
#include <stdio.h>

enum key { KEY_CPU, KEY_GROUP };

void sample_labels_init(struct sample_labels *l, struct capture_writer *writer)
{
	*l = (struct sample_labels){.writer = writer, .arena = arena_create()};
	str_table_init(&l->groups, l->arena);
}

void sample_labels_deinit(struct sample_labels *l)
{
	if (!l->arena)
		return;
	map_deinit(&l->labels);
	map_deinit(&l->sets);
	str_table_deinit(&l->groups);
	arena_destroy(l->arena);
}

uint32_t sample_labels_group(struct sample_labels *l, struct str path)
{
	return str_table_intern(&l->groups, path);
}

/* As text: a label of pprof whose number is 0 is none. */
static void write_cpu(struct sample_labels *l, uint32_t cpu)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", cpu);
	capture_writer_label(l->writer, STR("cpu"), str_from(text));
}

/* Its number in the file, from 1. */
static uint32_t find_label(struct sample_labels *l, enum key key, uint32_t value)
{
	bool is_new;
	uint32_t *label = map_at(&l->labels, key, value, (uint32_t)l->labels.count + 1, &is_new);

	if (!is_new)
		return *label;
	if (key == KEY_CPU)
		write_cpu(l, value);
	else
		capture_writer_label(l->writer, STR("cgroup"), l->groups.strings[value]);
	return *label;
}

/* That set with a label more, whose number is above theirs. */
static uint32_t find_set(struct sample_labels *l, uint32_t rest, uint32_t label)
{
	bool is_new;
	uint32_t *set = map_at(&l->sets, rest, label, (uint32_t)l->sets.count + 1, &is_new);

	if (is_new)
		capture_writer_label_set(l->writer, rest, label - 1);
	return *set;
}

uint32_t sample_labels_set(struct sample_labels *l, uint32_t group, uint32_t cpu)
{
	uint32_t first = group == SAMPLE_LABELS_NO_GROUP ? 0 : find_label(l, KEY_GROUP, group);
	uint32_t last = cpu == SAMPLE_LABELS_NO_CPU ? 0 : find_label(l, KEY_CPU, cpu);
	uint32_t low = first < last ? first : last, high = first < last ? last : first;
	uint32_t set = low ? find_set(l, 0, low) : 0;

	return high ? find_set(l, set, high) : 0;
}
