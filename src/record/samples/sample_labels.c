/*
 * Labels of samples.  Labels are numbered in the order of first use, and sorted by number in a set;
 * there are as many sets as distinct combinations.
 */
#include "record/samples/sample_labels.h"

#include <stdbool.h>
#include <stdio.h>

enum key {
	KEY_CPU,
	KEY_GROUP,
	KEY_SERVICE,
	KEY_UNIT,
	KEY_CONTAINER,
	KEY_COMMAND,
	KEY_WAKER,
	KEY_LOCK,
	KEY_HOLDER,
	KEY_COUNT
};

static const char *const key_names[KEY_COUNT] = {
	"cpu", "cgroup", "service", "unit", "container", "command", "waker", "lock", "holder"};

const struct sample_labeling sample_labeling_none = {SAMPLE_LABELS_NONE, SAMPLE_LABELS_NONE,
	SAMPLE_LABELS_NONE, SAMPLE_LABELS_NONE, SAMPLE_LABELS_NONE,
	{SAMPLE_LABELS_NONE, SAMPLE_LABELS_NONE, SAMPLE_LABELS_NONE, SAMPLE_LABELS_NONE}};

void sample_labels_init(struct sample_labels *l, struct capture_writer *writer)
{
	*l = (struct sample_labels){.writer = writer, .arena = arena_create()};
	str_table_init(&l->names, l->arena);
}

void sample_labels_deinit(struct sample_labels *l)
{
	if (!l->arena)
		return;
	map_deinit(&l->labels);
	map_deinit(&l->sets);
	str_table_deinit(&l->names);
	arena_destroy(l->arena);
}

uint32_t sample_labels_name(struct sample_labels *l, struct str name)
{
	return str_table_intern(&l->names, name);
}

uint32_t sample_labels_thread(
	struct sample_labels *l, struct str name, int64_t tid, const char *more)
{
	char text[64];

	snprintf(text, sizeof(text), "%.*s (%d)%s", STR_ARG(name), (int)tid, more);
	return sample_labels_name(l, str_from(text));
}

/* As text: in pprof a label with number 0 means no label. */
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
		capture_writer_label(l->writer, str_from(key_names[key]), l->names.strings[value]);
	return *label;
}

/* The set with one more label, with a higher number than the others. */
static uint32_t find_set(struct sample_labels *l, uint32_t rest, uint32_t label)
{
	bool is_new;
	uint32_t *set = map_at(&l->sets, rest, label, (uint32_t)l->sets.count + 1, &is_new);

	if (is_new)
		capture_writer_label_set(l->writer, rest, label - 1);
	return *set;
}

uint32_t sample_labels_set(struct sample_labels *l, struct sample_labeling labeling)
{
	const uint32_t values[KEY_COUNT] = {
		[KEY_CPU] = labeling.cpu,
		[KEY_GROUP] = labeling.group,
		[KEY_SERVICE] = labeling.owner.service,
		[KEY_UNIT] = labeling.owner.unit,
		[KEY_CONTAINER] = labeling.owner.container,
		[KEY_COMMAND] = labeling.owner.command,
		[KEY_WAKER] = labeling.waker,
		[KEY_LOCK] = labeling.lock,
		[KEY_HOLDER] = labeling.holder,
	};
	uint32_t sorted[KEY_COUNT], count = 0, set = 0;

	for (enum key key = 0; key < KEY_COUNT; key++) {
		if (values[key] == SAMPLE_LABELS_NONE)
			continue;
		uint32_t label = find_label(l, key, values[key]), at = count++;

		for (; at > 0 && sorted[at - 1] > label; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = label;
	}
	for (uint32_t i = 0; i < count; i++)
		set = find_set(l, set, sorted[i]);
	return set;
}
