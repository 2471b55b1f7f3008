/*
 * A profile refers to all its texts by number, so another table of texts is enough: first each text
 * gets a role by what refers to it, then a pseudonym of its role.  What has no role is empty.  A
 * text with several roles keeps the first of: function, load object, file, stream.  Metrics come
 * last, as their names are well known; one that is a function's name, too, stays.
 */
#include "model/anonymous.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"

enum role { ROLE_NONE, ROLE_FUNCTION, ROLE_MODULE, ROLE_FILE, ROLE_STREAM, ROLE_KEPT, ROLE_COUNT };

/* Names that programs do not choose: the root zone, and the stream of Prof_update. */
static const struct str known[] = {STR("_global"), STR("frame")};

/* What notes say instead. */
static const char *const note_texts[NOTE_KIND_COUNT] = {
	[NOTE_LOST] = "samples were lost",
	[NOTE_TRUNCATED] = "stacks are truncated",
	[NOTE_NO_SYMBOLS] = "load objects have no symbols, or some of them only",
	[NOTE_BAD_RECORD] = "parts of the input could not be read",
	[NOTE_INCOMPLETE] = "the recording is incomplete",
	[NOTE_GUESSED] = "some figures are estimates",
};
static const char kept_text[] =
	"anonymized: names of functions, load objects, source files and streams are numbers; kept "
	"are "
	"figures, times since the start, line numbers, ids of processes and threads, the names of "
	"metrics, and names in brackets";

struct naming {
	const struct profile *from;
	uint8_t *role; /* [string_count] */
	struct str *strings;
	uint32_t count[ROLE_COUNT];
};

static void mark(struct naming *n, string_id id, enum role role)
{
	struct str text = profile_string(n->from, id);
	bool is_kept = text.size > 1 && text.data[0] == '[' && text.data[text.size - 1] == ']';

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		is_kept |= str_equal(text, known[i]);
	if (text.size && n->role[id.i] == ROLE_NONE)
		n->role[id.i] = is_kept ? ROLE_KEPT : (uint8_t)role;
}

static void mark_all(struct naming *n)
{
	const struct profile *p = n->from;

	for (size_t i = 0; i < p->function_count; i++)
		mark(n, p->functions[i].name, ROLE_FUNCTION);
	for (size_t i = 0; i < p->object_count; i++)
		mark(n, p->objects[i].path, ROLE_MODULE);
	for (size_t i = 0; i < p->function_count; i++)
		mark(n, p->functions[i].file, ROLE_FILE);
	for (size_t i = 0; i < p->frame_count; i++)
		mark(n, p->frames[i].file, ROLE_FILE);
	for (size_t i = 0; i < p->tick_count; i++)
		mark(n, p->ticks[i].stream, ROLE_STREAM);
	for (size_t i = 0; i < p->metric_count; i++) {
		n->role[p->metrics[i].name.i] = ROLE_KEPT;
		n->role[p->metrics[i].unit.i] = ROLE_KEPT;
	}
	if (profile_string(p, p->format).size)
		n->role[p->format.i] = ROLE_KEPT;
}

/* A random order (Fisher and Yates), so that numbers tell nothing about where a text was. */
static uint32_t *shuffled(size_t count, struct arena *arena)
{
	uint32_t *order = ARENA_ARRAY(arena, uint32_t, count + 1);

	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	for (size_t i = count; i-- > 1;) {
		uint64_t random = i;
		size_t other;

		/* Without random numbers, the order stays, which is not a name either. */
		if (getentropy(&random, sizeof(random)) != 0)
			return order;
		other = (size_t)(random % (i + 1));
		uint32_t swapped = order[i];

		order[i] = order[other];
		order[other] = swapped;
	}
	return order;
}

static struct str pseudonym(struct naming *n, uint32_t id, struct arena *arena)
{
	static const char letters[ROLE_COUNT] = {
		[ROLE_FUNCTION] = 'f', [ROLE_MODULE] = 'm', [ROLE_FILE] = 's', [ROLE_STREAM] = 't'};
	enum role role = (enum role)n->role[id];

	if (role == ROLE_KEPT)
		return arena_str(arena, n->from->strings[id]);
	if (role == ROLE_NONE)
		return STR("");
	return str_from(arena_printf(arena, "%c%u", letters[role], ++n->count[role]));
}

/* The texts of the profile by their numbers, then those of notes, then the last note's. */
static void name_all(struct naming *n, struct arena *arena)
{
	size_t count = n->from->string_count;
	const uint32_t *order = shuffled(count, arena);

	n->strings = ARENA_ARRAY(arena, struct str, count + NOTE_KIND_COUNT + 1);
	for (size_t i = 0; i < count; i++)
		n->strings[order[i]] = pseudonym(n, order[i], arena);
	for (size_t i = 0; i < NOTE_KIND_COUNT; i++)
		n->strings[count + i] = str_from(note_texts[i] ? note_texts[i] : "");
	n->strings[count + NOTE_KIND_COUNT] = str_from(kept_text);
}

/* ---- what texts are not all of ---- */

/* A copy of an array of the profile, to be changed. */
static void *copied(struct profile *p, const void *array, size_t bytes)
{
	void *copy = arena_alloc(p->arena, bytes + 1);

	if (bytes)
		memcpy(copy, array, bytes);
	return copy;
}
#define COPIED(p, array, count) copied((p), (array), sizeof(*(array)) * (count))

/* Text 0 is the empty one. */
static void drop_names(struct profile *p)
{
	struct frame *frames = COPIED(p, p->frames, p->frame_count);
	struct function *functions = COPIED(p, p->functions, p->function_count);
	struct object *objects = COPIED(p, p->objects, p->object_count);
	struct process *processes = COPIED(p, p->processes, p->process_count);
	struct thread *threads = COPIED(p, p->threads, p->thread_count);
	const string_id none = {0};

	for (size_t i = 0; i < p->frame_count; i++)
		frames[i].obj_addr = 0;
	for (size_t i = 0; i < p->function_count; i++)
		functions[i].aliases = none;
	for (size_t i = 0; i < p->object_count; i++)
		objects[i].build_id = none;
	for (size_t i = 0; i < p->process_count; i++)
		processes[i].name = none;
	for (size_t i = 0; i < p->thread_count; i++)
		threads[i].name = none;
	p->frames = frames;
	p->functions = functions;
	p->objects = objects;
	p->processes = processes;
	p->threads = threads;
	p->source = p->command = p->host = p->when = none;
	p->start_unix_ns = 0;
	p->samples.labels = NULL;
	p->label_count = 0;
	p->label_set_count = 1;
}

static void reword_notes(struct profile *p, const struct profile *from)
{
	struct note *notes = ARENA_ARRAY(p->arena, struct note, from->note_count + 1);
	size_t count = 0;

	for (size_t i = 0; i < from->note_count; i++) {
		if (from->notes[i].kind == NOTE_INFO)
			continue;
		notes[count] = from->notes[i];
		notes[count++].text.i = (uint32_t)(from->string_count + from->notes[i].kind);
	}
	notes[count++] = (struct note){.kind = NOTE_INFO,
		.count = 1,
		.text = {(uint32_t)(from->string_count + NOTE_KIND_COUNT)}};
	p->notes = notes;
	p->note_count = count;
}

struct profile *profile_anonymous(const struct profile *from)
{
	struct arena *arena = arena_create();
	struct profile *p = ARENA_NEW(arena, struct profile);
	struct naming n = {
		.from = from, .role = ARENA_ARRAY(arena, uint8_t, from->string_count + 1)};

	mark_all(&n);
	name_all(&n, arena);
	*p = *from;
	p->arena = arena;
	p->strings = n.strings;
	p->string_count = from->string_count + NOTE_KIND_COUNT + 1;
	drop_names(p);
	reword_notes(p, from);
	return p;
}
