#ifndef PROF_H
#define PROF_H

/*
 * Zones: an always-on instrumenting profiler.  Source-compatible with Sean Barrett's IProf, correct
 * with threads, recursion, fork and dlopen, and readable from outside with `sonde live`.
 *
 *	#define Prof_ENABLED		// or -DProf_ENABLED; without it, macros expand to nothing
 *	#include <prof.h>
 *
 *	Prof_Define(physics);		// a public zone
 *
 *	void step(void)
 *	{
 *		Prof_Begin(step)	// a private zone, no semicolon
 *		...
 *		Prof_Region(physics)	// a public one
 *		...
 *		Prof_End
 *		Prof_End
 *	}
 *	void loop(void) { for (;;) { step(); Prof_update(1); } }
 *
 * `Prof_Block(step);` (in C++ also `Prof(step);`) and `Prof_Scope(physics);` end with their block.
 * A zone's name is an identifier that can begin with a digit, in a separate name space.
 *
 * Time is measured separately for each thread and each zone stack, which is a node of a tree.
 * Entering and leaving a zone reads the clock and stores a few words, without a lock, system call
 * or allocation.  Displays use differences of counters that are never cleared.
 *
 * Link with libsonde-zones, or put everything into one C file with sonde_zones.h
 * (Prof_IMPLEMENTATION).  For C99 and C++11, gcc and clang, x86-64 and aarch64 Linux.
 *
 * Any thread may call any function here.  Functions without a result cannot fail: zones that cannot
 * be measured are skipped and counted.  Times are in ticks of the clock unless a unit is given.
 * man/sonde-zones.5 describes the memory's layout.  Names that end with `_` are private.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PROF_API_VERSION 1

#if defined(__GNUC__)
#define Prof_UNUSED_ __attribute__((unused))
/* Not instrumented by -finstrument-functions. */
#define Prof_UNHOOKED_ __attribute__((no_instrument_function))
/* In cold code, compilers would otherwise call these functions; they are smaller than they look. */
#define Prof_MEMBER_	  Prof_UNHOOKED_ __attribute__((always_inline)) inline
#define Prof_INLINE_	  static Prof_UNUSED_ Prof_MEMBER_
#define Prof_LIKELY_(x)	  __builtin_expect(!!(x), 1)
#define Prof_UNLIKELY_(x) __builtin_expect(!!(x), 0)
/* Less likely, but quick as well: no jump out of the loop and back. */
#ifdef __has_builtin
#if __has_builtin(__builtin_expect_with_probability)
#define Prof_RATHER_NOT_(x) __builtin_expect_with_probability(!!(x), 0, 0.7)
#endif
#endif
#ifndef Prof_RATHER_NOT_
#define Prof_RATHER_NOT_(x) (x)
#endif
#ifndef Prof_API_
#define Prof_API_ __attribute__((visibility("default")))
#endif
#else
#error "prof.h needs gcc or clang"
#endif
/* Avoids warnings that programs may enable for the other language's constructs. */
#ifdef __cplusplus
#define Prof_NULL_	      nullptr
#define Prof_AS_(type, value) static_cast<type>(value)
#else
#define Prof_NULL_	      0
#define Prof_AS_(type, value) ((type)(value))
#endif

/*
 * A named region of code.  It must live as long as its object file; name, file and line are copied
 * when it is first entered.
 */
typedef struct Prof_Zone {
	const char *name;
	const char *file; /* NULL: unknown */
	uint32_t line;
	uint32_t id;	  /* 0 until first entered; set by the runtime */
	void *highlevel;  /* yours */
	const void *code; /* the function's address, if the zone is a function */
} Prof_Zone;

#define Prof_ZONE_(name, file, line)                                                               \
	{                                                                                          \
		name, file, line, 0, Prof_NULL_, Prof_NULL_                                        \
	}

/*
 * One zone stack of one thread.  Its first 56 bytes are shared with readers, in the layout of
 * struct zonewire_node.
 */
typedef struct Prof_Zone_Stack Prof_Zone_Stack;
struct Prof_Zone_Stack {
	/*
	 * Clock ticks spent in the zone and below.  While the zone is open, the tick of its
	 * beginning is subtracted, which makes this negative.  One word holds both facts, so a
	 * reader never sees a torn value.
	 */
	int64_t ticks;
	uint64_t entries;
	uint32_t zone;			    /* id */
	uint32_t parent;		    /* number of the node; for a root its own */
	uint32_t slot;			    /* the thread's slot */
	uint32_t depth;			    /* 0 for a root */
	uint32_t number;		    /* its own */
	uint32_t recursion;		    /* nodes of the same zone above it */
	uint32_t first_child, next_sibling; /* 0: none */
	uint32_t skipped;		    /* entries below it for which there was no room */
	uint32_t note;			    /* row of the annotations; 0: none */
	Prof_Zone_Stack *up;		    /* the parent; NULL: cannot be left */
	/* The children entered last, by id modulo 8; never NULL. */
	Prof_Zone_Stack *child[8];
};

/* The state of a thread. */
typedef struct Prof_Thread_ {
	Prof_Zone_Stack *top;
	/*
	 * 0: everything is done inline.  Each byte has one kind of writer: the thread itself, or
	 * other threads, which hold the runtime's lock.
	 */
	uint32_t mode;
	/*
	 * Entries that are counted but not measured, because there is no room or zones are
	 * disabled.  If not 0, mode has a bit other than Prof_EVENTS_.
	 */
	uint32_t skipped;
	struct Prof_Ring_ *ring; /* valid while mode has Prof_EVENTS_ */
	/*
	 * For the runtime: the current slot, the thread's own slot, and the fiber that makes the
	 * two differ.
	 */
	void *slot, *own_slot, *fiber;
	uint32_t own_skipped, has_ended;
} Prof_Thread_;

/* A thread's event ring; the head is shared with readers. */
struct Prof_Ring_ {
	uint64_t head; /* events ever written */
	uint64_t *events;
	uint64_t mask; /* capacity minus one */
};

/* Bits of mode. */
#define Prof_HELD_    0x00000001u /* the runtime is changing the thread's state */
#define Prof_SKIPS_   0x00000100u /* skipped is perhaps not 0 */
#define Prof_UNTOLD_  0x00010000u /* unknown whether zones are disabled; the slow path finds out */
#define Prof_CALL_    0x00020000u /* set permanently if the clock is not the processor's */
#define Prof_EVENTS_  0x20000000u
#define Prof_WAS_OFF_ 0x40000000u /* zones were disabled, and skipped may be nonzero */
#define Prof_IS_OFF_  0x80000000u /* zones are switched off */

extern Prof_API_ __thread Prof_Thread_ Prof_thread_ __attribute__((tls_model("initial-exec")));
/* A zone stack that no thread is ever in. */
extern Prof_API_ Prof_Zone_Stack Prof_dummy;
/*
 * The kernel clears this page in children.  So if the first word is 0, the zones memory belongs to
 * the parent.  After _Fork and clone, this is the only way to know.
 */
extern Prof_API_ uint32_t Prof_home_[1024];

/* ---- out of line; also the interface for other languages ---- */

/*
 * Returns the zone with this name, file and line: always the same zone for the same three.  It is
 * never freed. name is copied; file may be NULL.  Never returns NULL: if there is no more room for
 * zones, it returns the zone "…other".  A known zone is found without a lock, in some tens of
 * nanoseconds; a new one takes the lock once.
 */
Prof_API_ Prof_Zone *Prof_zone(const char *name, const char *file, uint32_t line);
/* Enters the zone; leaves the zone entered last. */
Prof_API_ void Prof_enter(Prof_Zone *zone);
Prof_API_ void Prof_leave(void);
/* Counts an entry, without reading the clock. */
Prof_API_ void Prof_count(Prof_Zone *zone);

/* The slow paths of the functions below. */
Prof_API_ Prof_Zone_Stack *Prof_enter_slow_(Prof_Zone *zone);
Prof_API_ Prof_Zone_Stack *Prof_enter_block_slow_(Prof_Zone *zone);
Prof_API_ void Prof_leave_slow_(void);
Prof_API_ void Prof_leave_to_(Prof_Zone_Stack *node);
/* The child of the thread's top, created if necessary; NULL: no room, or zones are disabled. */
Prof_API_ Prof_Zone_Stack *Prof_StackAppend(Prof_Zone *zone);

#if defined(__x86_64__)
Prof_INLINE_ uint64_t Prof_ticks_(void)
{
	return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
Prof_INLINE_ uint64_t Prof_ticks_(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}
#else
#error "prof.h knows the clocks of x86-64 and aarch64"
#endif

/* Plain stores and loads of memory that another thread or process may read. */
#define Prof_PUT_(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)
#define Prof_GET_(place)	__atomic_load_n(&(place), __ATOMIC_RELAXED)
#define Prof_IS_HOME_()		Prof_LIKELY_(Prof_GET_(Prof_home_[0]) != 0)
/* Keeps a signal handler of this thread from seeing stores in a different order. */
#define Prof_FENCE_() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/*
 * A single instruction where one exists: it is shorter, and a signal handler runs before or after
 * it, never in between.  For ThreadSanitizer, the operation must be written out.
 */
#if defined(__SANITIZE_THREAD__)
#define Prof_TSAN_
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define Prof_TSAN_
#endif
#endif
#if defined(__x86_64__) && !defined(Prof_TSAN_)
#define Prof_ADD_IS_ONE_	 1
#define Prof_ADD_(place, value)	 __asm__("addq %1, %0" : "+m"(place) : "er"(value) : "cc")
#define Prof_TAKE_(place, value) __asm__("subq %1, %0" : "+m"(place) : "er"(value) : "cc")
/* sum += place, and carry: whether it overflowed.  In C, gcc would assume that it does not. */
#define Prof_SUM_(sum, place, carry) __asm__("addq %2, %0" : "+r"(sum), "=@ccc"(carry) : "m"(place))
#else
#define Prof_ADD_IS_ONE_	 0
#define Prof_ADD_(place, value)	 Prof_PUT_(place, (place) + (value))
#define Prof_TAKE_(place, value) Prof_PUT_(place, (place) - (value))
#define Prof_SUM_(sum, place, carry)                                                               \
	((sum) += Prof_AS_(uint64_t, place), (carry) = (sum) < Prof_AS_(uint64_t, place))
#endif

/*
 * These change the top of the stack first and last, while the top is closed.  So a signal handler
 * in between finds a closed top, and the zones that it enters are skipped and counted.  A node's
 * ticks are negative exactly while it is open.
 *
 * Prof_thread_ is named each time instead of through a pointer: with -fsanitize=null, gcc tests
 * such a pointer by the flags of an addition, which the linker replaces with an instruction that
 * sets no flags.
 */

/* Stores an event: from this tick on, the thread is at this node. */
Prof_INLINE_ void Prof_event_(uint64_t now, uint32_t node)
{
	struct Prof_Ring_ *ring = Prof_thread_.ring;
	uint64_t head = Prof_GET_(ring->head);

#if !defined(__x86_64__)
	/* The mode bit that announces the ring must be read before the ring. */
	(void)__atomic_load_n(&Prof_thread_.mode, __ATOMIC_ACQUIRE);
#endif
	Prof_PUT_(Prof_GET_(ring->events)[head & Prof_GET_(ring->mask)], now << 20 | node);
	__atomic_store_n(&ring->head, head + 1, __ATOMIC_RELEASE);
}

/*
 * Counts entries that are skipped while zones are disabled: their ends may come after they are
 * enabled again.
 */
Prof_INLINE_ void Prof_skip_(int change)
{
	Prof_PUT_(
		Prof_thread_.skipped, Prof_GET_(Prof_thread_.skipped) + Prof_AS_(uint32_t, change));
	Prof_FENCE_();
}

/* Enters node from the top, which must be open. */
Prof_INLINE_ Prof_Zone_Stack *Prof_enter_top_(Prof_Zone_Stack *node, int has_events)
{
	uint64_t now;

	Prof_thread_.top = node;
	Prof_FENCE_();
	Prof_ADD_(node->entries, 1);
	now = Prof_ticks_();
	Prof_TAKE_(node->ticks, Prof_AS_(int64_t, now));
	if (has_events)
		Prof_event_(now, node->number);
	return node;
}

/* Leaves node, which must be the top, for up. */
Prof_INLINE_ void Prof_leave_top_(Prof_Zone_Stack *node, Prof_Zone_Stack *up, int has_events)
{
	uint64_t now = Prof_ticks_(), ticks = now;
	int was_open;

	/*
	 * If the sum stays negative, the clock went backwards.  If ticks was not negative, the node
	 * was not open.
	 */
	Prof_SUM_(ticks, node->ticks, was_open);
	if (Prof_UNLIKELY_(!was_open)) {
		Prof_leave_slow_();
		return;
	}
	Prof_PUT_(node->ticks, Prof_AS_(int64_t, ticks));
	Prof_FENCE_();
	Prof_thread_.top = up;
	if (has_events)
		Prof_event_(now, up->number);
}

/*
 * Returns the node entered; NULL: skipped but counted, so that Prof_leave_ undoes it.  Zones that
 * end with their block know from their node what to undo.  For these, NULL means that nothing was
 * done, and Prof_dummy means a counted entry.
 *
 * Reading the clock waits for earlier instructions, and the longest dependency chain leads from the
 * top to its child and the child's zone, so that chain is started first.  It is shortest right
 * after the end of another zone, which writes the top last.  Zones that end with their block check
 * the mode before they continue from the top, so that they do almost nothing while zones are
 * disabled.
 */
Prof_INLINE_ Prof_Zone_Stack *Prof_enter_as_(Prof_Zone *zone, int is_block)
{
	Prof_Zone_Stack *top = Prof_GET_(Prof_thread_.top), *node;
	uint32_t mode = Prof_GET_(Prof_thread_.mode), id;

	if (is_block && Prof_RATHER_NOT_(mode & Prof_IS_OFF_))
		return Prof_NULL_;
	id = Prof_GET_(zone->id);
	node = top->child[id & 7];
	if (Prof_UNLIKELY_(mode != 0)) {
		if (Prof_LIKELY_(mode == Prof_EVENTS_)) {
			if (Prof_LIKELY_(node->zone == id) && Prof_LIKELY_(top->ticks < 0) &&
				Prof_IS_HOME_())
				return Prof_enter_top_(node, 1);
		} else if (!is_block && Prof_LIKELY_(mode & Prof_IS_OFF_)) {
			/*
			 * Count first: from then on, the runtime remembers that zones were
			 * disabled.
			 */
			Prof_skip_(1);
			if (Prof_LIKELY_(Prof_GET_(Prof_thread_.mode) & Prof_IS_OFF_))
				return Prof_NULL_;
			Prof_skip_(-1);
		}
	} else if (Prof_LIKELY_(node->zone == id) && Prof_LIKELY_(top->ticks < 0) &&
		   Prof_IS_HOME_()) {
		return Prof_enter_top_(node, 0);
	}
	return is_block ? Prof_enter_block_slow_(zone) : Prof_enter_slow_(zone);
}

Prof_INLINE_ Prof_Zone_Stack *Prof_enter_(Prof_Zone *zone)
{
	return Prof_enter_as_(zone, 0);
}

Prof_INLINE_ void Prof_leave_(void)
{
	Prof_Zone_Stack *node = Prof_GET_(Prof_thread_.top), *up = node->up;
	uint32_t mode = Prof_GET_(Prof_thread_.mode);

	if (Prof_UNLIKELY_(mode != 0)) {
		if (Prof_LIKELY_(mode == Prof_EVENTS_) && Prof_LIKELY_(up) && Prof_IS_HOME_())
			Prof_leave_top_(node, up, 1);
		else if (Prof_GET_(Prof_thread_.skipped))
			Prof_skip_(-1);
		else
			Prof_leave_slow_();
	} else if (Prof_LIKELY_(up) && Prof_IS_HOME_()) {
		Prof_leave_top_(node, up, 0);
	} else {
		Prof_leave_slow_();
	}
}

/* For zones that end with their block, which know the node they entered. */
Prof_INLINE_ Prof_Zone_Stack *Prof_enter_block_(Prof_Zone *zone)
{
	return Prof_enter_as_(zone, 1);
}

Prof_INLINE_ void Prof_leave_node_(Prof_Zone_Stack *node)
{
	uint32_t mode;

	if (!node)
		return;
	/* A node that was entered has a parent. */
	mode = Prof_GET_(Prof_thread_.mode);
	if (Prof_UNLIKELY_(mode != 0)) {
		if (Prof_LIKELY_(mode == Prof_EVENTS_) && Prof_LIKELY_(node == Prof_thread_.top) &&
			Prof_IS_HOME_())
			Prof_leave_top_(node, node->up, 1);
		else
			Prof_leave_to_(node);
	} else if (Prof_LIKELY_(node == Prof_thread_.top) && Prof_IS_HOME_()) {
		Prof_leave_top_(node, node->up, 0);
	} else {
		Prof_leave_to_(node);
	}
}

/* ---- per frame ---- */

/* Arguments of Prof_update, with the names of both generations of IProf. */
typedef enum {
	Prof_discard = 0,
	Prof_record = 1,
	Prof_accumulate = 1,
	PROF_discard = 0,
	PROF_accumulate = 1
} Prof_UpdateMode;
typedef Prof_UpdateMode ProfUpdateMode;

/*
 * Ends a frame of the program.  If record is not 0, gathers the zones of all threads since the last
 * call and adds them to the history.  If it is 0, the program is paused: the displayed data does
 * not change, and the time since the last call is in no frame.
 */
Prof_API_ void Prof_update(int record);

/*
 * Ends a frame of a separate stream, such as "audio" or "request".  The frame holds the calling
 * thread's zones since its last call. name is copied; up to 15 streams.
 */
Prof_API_ void Prof_update_stream(const char *name);

/* ---- what displays show (see prof_internal.h for the report itself) ---- */

typedef enum {
	Prof_SELF_TIME,
	Prof_HIERARCHICAL_TIME,
	Prof_CALL_GRAPH,
	Prof_CALL_GRAPH_DESCENDENTS, /* all descendants of the focus, not just its children */
	Prof_SORT_NAME,
	Prof_SORT_SELF_TIME = Prof_SELF_TIME,
	Prof_SORT_HIERARCHICAL_TIME = Prof_HIERARCHICAL_TIME,
	/* Programs of IProf's forks cycle through modes with (mode + 1) % Prof_Last_Mode. */
	Prof_Last_Mode = Prof_CALL_GRAPH
} Prof_Report_Mode;
Prof_API_ void Prof_set_report_mode(Prof_Report_Mode mode);
Prof_API_ Prof_Report_Mode Prof_get_report_mode(void);

/* Moves the cursor down by num rows, or to row num. */
Prof_API_ void Prof_move_cursor(int num);
Prof_API_ void Prof_set_cursor(int num);
/* Shows the call graph around the zone at the cursor, or around its largest caller. */
Prof_API_ void Prof_select(void);
Prof_API_ void Prof_select_parent(void);
/*
 * The frame shown: 0 is the present (averaged), n is n frames ago.  Prof_move_frame: negative is
 * older.
 */
Prof_API_ void Prof_move_frame(int num);
Prof_API_ void Prof_set_frame(int num);
/*
 * 0: no averaging, 1: 90 % of the weight within 0.8 s (default), 2: within 2.5 s.  Both names do
 * the same.
 */
Prof_API_ void Prof_set_smoothing(int slot);
Prof_API_ void Prof_set_average(int slot);
Prof_API_ int Prof_get_smoothing(void);

typedef enum {
	Prof_FLATTEN_RECURSION, /* a recursive zone is one row (default) */
	Prof_SPREAD_RECURSION	/* each depth is one row */
} Prof_Recursion;
typedef Prof_Recursion Prof_Recursion_Mode;
Prof_API_ void Prof_set_recursion(Prof_Recursion recursion);

/* Freezes the history as soon as a frame takes longer than ms milliseconds; ms <= 0: never. */
Prof_API_ void Prof_freeze_over(double ms);
Prof_API_ void Prof_set_frozen(int frozen);
Prof_API_ int Prof_get_frozen(void);

/* ---- control ---- */

/* Enables or disables measuring for all threads; open zones stay open.  Enabled by default. */
Prof_API_ void Prof_set_enabled(int enabled);
/*
 * Enables event rings for all threads from now on: for a timeline, and to determine the zones of
 * samples.
 */
Prof_API_ void Prof_set_events(int enabled);
/*
 * Sets the program's own clock, for simulations and tests.  `now` returns ticks that never go
 * backwards and begin above 0; hz is the number of ticks per second.  NULL: the machine's clock.
 * Ignored after the first zone.
 */
Prof_API_ void Prof_set_clock(uint64_t (*now)(void), double hz);

/* ---- threads and fibers ---- */

/* Names the calling thread; copies up to 31 bytes.  The default is the kernel's name. */
Prof_API_ void Prof_thread_name(const char *name);

/*
 * A fiber (coroutine) has its own zone stack.  Each thread has a current fiber; NULL means the
 * thread's own stack.  A fiber can move between threads, but be current in only one thread at a
 * time.  While it is not current, its open zones take no time.  The name is copied.
 * Prof_fiber_create returns NULL if out of memory; if the tables have no room, the fiber's zones
 * are skipped and counted.
 */
typedef struct Prof_Fiber Prof_Fiber;
Prof_API_ Prof_Fiber *Prof_fiber_create(const char *name);
Prof_API_ void Prof_fiber_switch(Prof_Fiber *fiber);
/* The fiber must not be current in any thread. */
Prof_API_ void Prof_fiber_destroy(Prof_Fiber *fiber);

/* ---- leaving zones in other ways ---- */

/*
 * Prof_mark returns the position of the calling thread's zone stack, for example before setjmp.
 * After a longjmp, Prof_return_to leaves, at that moment, all zones entered since then.
 */
typedef struct Prof_Mark {
	void *node;
	uint32_t skipped;
} Prof_Mark;
Prof_API_ Prof_Mark Prof_mark(void);
Prof_API_ void Prof_return_to(Prof_Mark mark);

/* ---- annotating the open zone ---- */

/*
 * Keeps the last text (copied, cut to 39 bytes), and the count, sum, minimum, maximum and last of
 * the numbers.
 */
Prof_API_ void Prof_text(const char *text);
Prof_API_ void Prof_number(double number);

/* ---- drawing with OpenGL: libsonde-zones-gl ---- */

/*
 * Draws the report, width by height.  The baseline of the first text begins at (sx, sy); lines are
 * line_spacing apart (negative if y grows upwards).  Times have `precision` decimals (1 to 4),
 * counts two. print_text draws a text whose baseline begins at (x, y) in the current colour;
 * text_width returns a text's width; if both are NULL, a built-in font is used.  For a legacy or
 * compatibility context, in its current coordinates and blending (GL_SRC_ALPHA,
 * GL_ONE_MINUS_SRC_ALPHA recommended); restores the context's state.  The graph has its origin at
 * (sx, sy), and 128 frames; frames higher than the viewport are drawn along its edge.
 *
 * prof_gl.h has the same for core-profile contexts and other devices.
 */
Prof_API_ void Prof_draw_gl(float sx, float sy, float width, float height, float line_spacing,
	int precision, void (*print_text)(float x, float y, char *text),
	float (*text_width)(char *text));
Prof_API_ void Prof_draw_graph_gl(float sx, float sy, float x_per_frame, float y_per_ms);

/* ---- IProf internals that programs have used ---- */

/* The calling thread's innermost zone. */
#define Prof_stack (Prof_thread_.top)

/* IProf's type of clock ticks, and the processor's ticks. */
typedef int64_t Prof_Int64;
Prof_INLINE_ void Prof_get_timestamp(Prof_Int64 *ticks)
{
	*ticks = Prof_AS_(Prof_Int64, Prof_ticks_());
}

/* C linkage, in C++. */
#ifdef __cplusplus
#define Prof_C	      "C"
#define Prof_extern_C extern "C"
#else
#define Prof_C
#define Prof_extern_C
#endif

#ifdef __cplusplus
}
#endif

/* ---- marking zones ---- */

/*
 * Prof_Define(z); defines a public zone, at file scope or in a function; `static` or `extern "C"`
 * can precede it. extern Prof_Declare(z); declares one that is defined elsewhere.
 */
#include "prof_define.h"

#ifdef Prof_ENABLED

#define Prof_CAT2_(a, b) a##b
#define Prof_CAT_(a, b)	 Prof_CAT2_(a, b)
/*
 * A name that no other visible zone has, unless it has the same name and line.  Each macro below
 * turns z into a string immediately, because z can also be the name of a macro.
 */
#define Prof_PRIVATE_(z) Prof_CAT_(Prof_private_##z##_, __LINE__)

/*
 * These enter a private zone and a public one, wherever declarations are allowed, without a
 * semicolon.  Prof_End leaves the zone entered last, wherever that happened.
 */
#define Prof_Begin(z)                                                                              \
	static Prof_Zone Prof_PRIVATE_(z) = Prof_ZONE_(#z, __FILE__, __LINE__);                    \
	Prof_ENTER_(Prof_dummy_##z##_, &Prof_PRIVATE_(z));
#define Prof_Region(z) Prof_ENTER_(Prof_dummy_##z##_, &Prof_region_##z);
#define Prof_End       Prof_leave_();
/*
 * Enters a zone whose name is known only at run time; the same name at the same place is the same
 * zone.
 */
#define Prof_Begin_Name(text) Prof_ENTER_(Prof_dummy_name_, Prof_zone(text, __FILE__, __LINE__));
#ifdef __cplusplus
#define Prof_ENTER_(dummy, zone) ((void)Prof_enter_(zone))
#else
#define Prof_ENTER_(dummy, zone)                                                                   \
	Prof_UNUSED_ int Prof_CAT_(dummy, __LINE__) = (Prof_enter_(zone), 0)
#endif

/* Counts an entry, without reading the clock.  The second one is a statement, with a semicolon. */
#define Prof_Counter(z)                                                                            \
	{                                                                                          \
		static Prof_Zone Prof_PRIVATE_(z) = Prof_ZONE_(#z, __FILE__, __LINE__);            \
		Prof_count(&Prof_PRIVATE_(z));                                                     \
	}
#define Prof_Count(z)                                                                              \
	do {                                                                                       \
		static Prof_Zone Prof_PRIVATE_(z) = Prof_ZONE_(#z, __FILE__, __LINE__);            \
		Prof_count(&Prof_PRIVATE_(z));                                                     \
	} while (0)

/*
 * These zones end with their block, and are declarations, with a semicolon: a private zone (in C++
 * also called Prof), a public one, one with the name of the function, and one whose name is known
 * only at run time.
 */
#define Prof_Block(z)                                                                              \
	static Prof_Zone Prof_PRIVATE_(z) = Prof_ZONE_(#z, __FILE__, __LINE__);                    \
	Prof_GUARD_(Prof_scope_##z##_, Prof_PRIVATE_(z))
#define Prof_Scope(z) Prof_GUARD_(Prof_scope_##z##_, Prof_region_##z)
#define Prof_Function                                                                              \
	static Prof_Zone Prof_PRIVATE_(function) = Prof_ZONE_(__func__, __FILE__, __LINE__);       \
	Prof_GUARD_(Prof_scope_function_, Prof_PRIVATE_(function))
#define Prof_Name(text) Prof_GUARD_(Prof_scope_name_, *Prof_zone(text, __FILE__, __LINE__))

/* These take an lvalue of type Prof_Zone.  IProf had a cache at each place; here it is unused. */
#define Prof_Begin_Cache(z)   struct Prof_cache_
#define Prof_Begin_Raw(zone)  Prof_ENTER_(Prof_dummy_, &(zone))
#define Prof_Begin_Code(zone) Prof_ENTER_(Prof_dummy_, &(zone))
#define Prof_End_Raw()	      (Prof_leave_())

#ifdef __cplusplus
#define Prof(z)                                                                                    \
	static Prof_Zone Prof_PRIVATE_(z) = Prof_ZONE_(#z, __FILE__, __LINE__);                    \
	Prof_GUARD_(Prof_scope_##z##_, Prof_PRIVATE_(z))
#define Prof_GUARD_(guard, zone) Prof_Scope_Var Prof_CAT_(guard, __LINE__)(zone)
extern "C++" {
Prof_UNUSED_ static Prof_Zone_Stack *Prof_cache;
struct Prof_Scope_Var {
	Prof_MEMBER_ explicit Prof_Scope_Var(Prof_Zone &zone) : node(Prof_enter_block_(&zone))
	{
	}
	Prof_MEMBER_ Prof_Scope_Var(Prof_Zone &zone, Prof_Zone_Stack *&)
	    : node(Prof_enter_block_(&zone))
	{
	}
	Prof_MEMBER_ ~Prof_Scope_Var()
	{
		Prof_leave_node_(node);
	}

      private:
	Prof_Scope_Var(const Prof_Scope_Var &);
	Prof_Scope_Var &operator=(const Prof_Scope_Var &);
	Prof_Zone_Stack *const node;
};
}
#else
#define Prof_GUARD_(guard, zone)                                                                   \
	Prof_UNUSED_ __attribute__((cleanup(Prof_leave_guard_))) Prof_Zone_Stack *Prof_CAT_(       \
		guard, __LINE__) = Prof_enter_block_(&(zone))
Prof_INLINE_ void Prof_leave_guard_(Prof_Zone_Stack **guard)
{
	Prof_leave_node_(*guard);
}
#endif

#else
#include "prof_off.h"
#endif
#endif
