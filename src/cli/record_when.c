/*
 * WHEN at record time.  Names are known only at the end, so everything is recorded.  Then the file
 * is read like a report reads it, and rewritten without the stacks that no pattern matches.  Their
 * samples remain, at the empty stack, with time, thread and weights, so that totals and percentages
 * are those of all samples, also for each thread and each second.
 *
 * Reports decide which function a sample is charged to: stacks are kept complete, because the
 * frames of inlined calls share an address, and cannot be separated in a recording.
 */
#include "cli/record_when.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/when.h"
#include "base/alloc.h"
#include "base/file.h"
#include "cli/message.h"
#include "formats/sonde/capture_nodes.h"
#include "model/profile.h"
#include "record/file/capture_compact.h"

/* Applies all patterns; returns shown[stack], which the caller frees. */
static uint32_t *apply(const struct profile *p, struct str patterns)
{
	uint32_t *shown = xcalloc(p->stack_count, sizeof(*shown));
	uint32_t *parent = xcalloc(p->stack_count, sizeof(*parent));

	for (uint32_t i = 0; i < p->stack_count; i++) {
		shown[i] = i;
		parent[i] = profile_stack_parent(p, i);
	}
	while (patterns.size > 0) {
		struct when *when;
		struct error *err = when_compile(str_take_item(&patterns), WHEN_OBJECTS, &when);

		/* The options were checked before. */
		assert(err == NULL);
		when_apply(when, p, parent, shown);
		when_destroy(when);
	}
	free(parent);
	return shown;
}

/*
 * Patterns are about code, so zones stay, even of samples that are left out: a program's own
 * measurements are only useful if complete.
 */
static void keep_zones(const struct profile *p, uint8_t *fates)
{
	for (size_t i = 0; p->samples.zone && i < p->samples.count; i++)
		fates[p->samples.zone[i].i] = CAPTURE_KEEPS;
	for (size_t i = 0; i < p->zone_events.count; i++)
		fates[p->zone_events.stack[i].i] = CAPTURE_KEEPS;
}

/* By stack: those shown with samples are kept, and their parents pass. */
static uint8_t *stack_fates(const struct profile *p, const uint32_t *shown)
{
	uint8_t *fates = xcalloc(p->stack_count, sizeof(*fates));

	for (size_t i = 0; i < p->samples.count; i++) {
		uint32_t stack = p->samples.stack[i].i;
		if (shown[stack] != SHOWN_UNMATCHED)
			fates[stack] = CAPTURE_KEEPS;
	}
	keep_zones(p, fates);
	for (uint32_t i = (uint32_t)p->stack_count; i-- > 1;) {
		uint8_t *parent = &fates[profile_stack_parent(p, i)];
		if (fates[i] != CAPTURE_DROPS && *parent == CAPTURE_DROPS)
			*parent = CAPTURE_PASSES;
	}
	return fates;
}

static uint64_t count_excluded(const struct profile *p, const uint32_t *shown)
{
	uint64_t excluded = 0;

	for (uint32_t i = 0; i < p->stack_count; i++)
		if (shown[i] == SHOWN_UNMATCHED)
			excluded += profile_samples(p, i);
	return excluded;
}

static struct error *select_nodes(const char *path, const struct profile *p,
	const struct capture_nodes *nodes, const uint32_t *shown, uint64_t *size_bytes)
{
	uint8_t *of_stack = stack_fates(p, shown);
	uint8_t *of_node = xcalloc(nodes->count, sizeof(*of_node));

	for (size_t i = 0; i < nodes->count; i++)
		of_node[i] = of_stack[nodes->stacks[i].i];
	struct error *err = capture_select(path, of_node, nodes->count, size_bytes);
	free(of_node);
	free(of_stack);
	return err;
}

static struct error *select_samples(
	const char *path, struct str patterns, struct record_summary *summary)
{
	struct file_bytes bytes;
	struct capture_nodes nodes;
	struct profile *p;
	struct error *err = file_read(path, 0, &bytes);

	if (err)
		return err;
	err = capture_read_nodes(
		&(struct reader_input){.name = path, .data = bytes.data, .size = bytes.size}, &p,
		&nodes);
	file_bytes_deinit(&bytes);
	if (err)
		return err;
	uint32_t *shown = apply(p, patterns);
	err = select_nodes(path, p, &nodes, shown, &summary->size_bytes);
	if (err == NULL) {
		summary->has_when = true;
		summary->excluded = count_excluded(p, shown);
	}
	free(shown);
	free(nodes.stacks);
	profile_destroy(p);
	return err;
}

void record_when(const char *path, struct str patterns, struct record_summary *summary)
{
	struct error *err = strcmp(path, "-") == 0
				    ? error_new(ERROR_UNSUPPORTED, "not a regular file")
				    : select_samples(path, patterns, summary);

	if (err)
		message_print("the recording has all stacks, also those that do not match --when: "
			      "%s; reports leave them out",
			err->message);
	error_destroy(err);
}
