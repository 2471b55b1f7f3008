/*
 * Marks: positions of a zone stack to return to. Notes: a program's annotations of the open zone.
 */
#include "zones/runtime.h"

/* Set in a mark that a signal handler made during an entry, or while the thread was held. */
#define IN_HANDLER 0x80000000u

Prof_Mark Prof_mark(void)
{
	Prof_Mark mark;

	mark.node = Prof_thread_.top;
	mark.skipped = Prof_GET_(Prof_thread_.skipped);
	if (zones_is_held(&Prof_thread_) || zones_is_amid(&Prof_thread_))
		mark.skipped |= IN_HANDLER;
	return mark;
}

void Prof_return_to(Prof_Mark mark)
{
	Prof_Thread_ *t = &Prof_thread_;
	struct zones_slot *slot;
	Prof_Zone_Stack *node;
	uint32_t skipped;

	/*
	 * In a handler that interrupts an entry, everything is skipped, so there is nothing else to
	 * undo.
	 */
	if (mark.skipped & IN_HANDLER) {
		Prof_PUT_(t->skipped, mark.skipped & ~IN_HANDLER);
		Prof_PUT_(*zones_mode(t, ZONES_SKIPS), 1);
		return;
	}
	zones_recover(t);
	if (!zones_hold(t, &skipped))
		return;
	slot = zones_slot_of(t);
	node = mark.node == &zones_nowhere && slot ? slot->root : mark.node;
	if (node && t->top != node && zones_is_on_stack(t, node))
		zones_pop_to(t, node);
	zones_release(t, mark.skipped);
}

/* The top's row of notes; NULL: no room, or a root. */
static struct zonewire_note *note_of(Prof_Zone_Stack *node)
{
	struct zonewire_table *table;
	uint32_t row;

	if (!node->up)
		return NULL;
	if (node->note)
		return &zones_rt.memory.notes[node->note];
	table = &zones_rt.memory.header->notes;
	row = Prof_GET_(table->count);
	do {
		if (row >= table->capacity)
			return NULL;
	} while (!__atomic_compare_exchange_n(
		&table->count, &row, row ? row + 1 : 2, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	row = row ? row : 1;
	Prof_PUT_(zones_rt.memory.notes[row].node, node->number);
	__atomic_store_n(&node->note, row, __ATOMIC_RELEASE);
	return &zones_rt.memory.notes[row];
}

/* The held thread's note, marked as changing for readers; NULL: nothing to note. */
static struct zonewire_note *note_begin(Prof_Thread_ *t, uint32_t *skipped)
{
	struct zonewire_note *note = NULL;

	if (!zones_hold(t, skipped))
		return NULL;
	if (!*skipped && !(Prof_GET_(zones_slow) & ZONES_OFF))
		note = note_of(t->top);
	if (!note) {
		zones_release(t, *skipped);
		return NULL;
	}
	Prof_PUT_(note->generation, note->generation + 1);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	return note;
}

static void note_end(Prof_Thread_ *t, struct zonewire_note *note, uint32_t skipped)
{
	__atomic_store_n(&note->generation, note->generation + 1, __ATOMIC_RELEASE);
	zones_release(t, skipped);
}

void Prof_text(const char *text)
{
	Prof_Thread_ *t = &Prof_thread_;
	uint32_t skipped;
	struct zonewire_note *note = note_begin(t, &skipped);

	if (!note)
		return;
	zones_put_text(note->text, sizeof(note->text), text ? text : "");
	note_end(t, note, skipped);
}

static void put_number(double *place, double number)
{
	__atomic_store(place, &number, __ATOMIC_RELAXED);
}

void Prof_number(double number)
{
	Prof_Thread_ *t = &Prof_thread_;
	uint32_t skipped;
	struct zonewire_note *note = note_begin(t, &skipped);

	if (!note)
		return;
	put_number(&note->min, !note->count || number < note->min ? number : note->min);
	put_number(&note->max, !note->count || number > note->max ? number : note->max);
	put_number(&note->sum, note->sum + number);
	put_number(&note->last, number);
	Prof_PUT_(note->count, note->count + 1);
	note_end(t, note, skipped);
}
