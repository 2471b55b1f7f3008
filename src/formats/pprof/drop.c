/*
 * Frames that a pprof profile asks to remove (drop_frames, keep_frames): those of the allocator or
 * the profiler, with everything they called.  See reader.h.
 *
 * As in pprof (profile/prune.go there), a function is dropped if its complete name, without
 * arguments, matches drop_frames but not keep_frames.  A location of inlined calls is cut below the
 * outermost dropped one, or removed with everything below it if that is its own function.
 */
#include "formats/pprof/reader.h"

#include <stdlib.h>

#include "base/regex.h"

/* Limit of matching steps: for any file, and in addition per byte. */
#define WORK_FREE  ((uint64_t)64 << 20)
#define WORK_RATIO 64

struct pprof_drop {
	struct regex *drop, *keep; /* keep NULL: none */
	uint8_t *ends;		   /* [locations.count]: enum pprof_end */
	struct map is_dropped;	   /* offset of a name's bytes → bool */
	uint64_t work;
};

static void note_error(struct pprof *p, const char *field, struct error *err)
{
	builder_note(p->builder, NOTE_INFO, 1,
		"the functions that the profile wants left out (%s) are shown: %s", field,
		err->message);
	error_destroy(err);
}

/* False: it is missing, or invalid, which adds a note. */
static bool read_pattern(
	struct pprof *p, unsigned int number, const char *name, struct regex **regex)
{
	struct str text = pprof_string(p, p->facts.value[number], p->facts.offset[number]);

	if (text.size == 0)
		return false;
	struct error *err = regex_create(text, REGEX_WHOLE, regex);
	if (err)
		note_error(p, name, err);
	return err == NULL;
}

void pprof_drop_init(struct pprof *p)
{
	struct pprof_drop d = {.work = WORK_FREE + WORK_RATIO * (uint64_t)p->input->size};
	uint64_t keep = p->facts.value[PROFILE_KEEP_FRAMES];

	if (!read_pattern(p, PROFILE_DROP_FRAMES, "drop_frames", &d.drop))
		return;
	/* Without the exceptions, too much would be dropped. */
	if (keep && !read_pattern(p, PROFILE_KEEP_FRAMES, "keep_frames", &d.keep) &&
		pprof_string(p, keep, 0).size) {
		regex_destroy(d.drop);
		return;
	}
	p->drop = xalloc(sizeof(*p->drop));
	*p->drop = d;
	p->drop->ends = xcalloc(p->locations.count, sizeof(*p->drop->ends));
}

void pprof_drop_deinit(struct pprof *p)
{
	if (p->drop == NULL)
		return;
	regex_destroy(p->drop->drop);
	regex_destroy(p->drop->keep);
	map_deinit(&p->drop->is_dropped);
	free(p->drop->ends);
	free(p->drop);
}

/* A name without C++ arguments. */
static struct str simple_name(struct str name)
{
	static const struct str reserved[] = {STR("(anonymous namespace)"), STR("operator()")};

	if (str_starts_with(name, STR(".")))
		name = (struct str){name.data + 1, name.size - 1};
	for (size_t i = 0; i < name.size;) {
		struct str rest = {name.data + i, name.size - i};

		if (str_starts_with(rest, reserved[0]))
			i += reserved[0].size;
		else if (str_starts_with(rest, reserved[1]))
			i += reserved[1].size;
		else if (rest.data[0] == '(')
			return (struct str){name.data, i};
		else
			i++;
	}
	return name;
}

static bool is_dropped(struct pprof_drop *d, struct str name)
{
	bool added;
	uint32_t *known = map_at(&d->is_dropped, (uint64_t)(uintptr_t)name.data, 0, false, &added);

	if (!added)
		return *known;
	struct str simple = simple_name(name);
	*known = regex_match(d->drop, simple, &d->work) == REGEX_YES &&
		 (d->keep == NULL || regex_match(d->keep, simple, &d->work) == REGEX_NO);
	return *known;
}

void pprof_drop_location(struct pprof *p, size_t row)
{
	struct pprof_place *place = &p->places[row];

	for (uint32_t i = place->count; i-- > 0;) {
		struct str name = builder_frame_name(p->builder, p->frames.data[place->first + i]);

		/* For "[unknown]" and "[module+0x12]", pprof has no function. */
		if (str_starts_with(name, STR("[")) || !is_dropped(p->drop, name))
			continue;
		p->drop->ends[row] = i + 1 == place->count ? END_ABOVE : END_HERE;
		if (i + 1 < place->count) {
			place->first += i + 1;
			place->count -= i + 1;
		}
		return;
	}
}

enum pprof_end pprof_drop_end(const struct pprof *p, uint64_t location)
{
	size_t row;

	if (!pprof_row_find(&p->locations, location, &row))
		return END_NONE;
	return (enum pprof_end)p->drop->ends[row];
}

void pprof_drop_notes(struct pprof *p, uint64_t cut)
{
	if (cut)
		builder_note(p->builder, NOTE_INFO, cut,
			"%s cut, as the profile asks: functions that match its drop_frames are "
			"left out with all that they called",
			cut == 1 ? "stack is" : "stacks are");
	if (p->drop && p->drop->work == 0)
		builder_note(p->builder, NOTE_INFO, 1,
			"matching drop_frames takes too long: some functions that match it are "
			"shown");
}
