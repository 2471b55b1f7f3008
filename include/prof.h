#ifndef PROF_H
#define PROF_H

/*
 * Zones: an always-on instrumenting profiler.  Source-compatible with Sean Barrett's IProf, right
 * with threads, recursion, fork and dlopen, and readable from outside: `sonde live`.
 *
 *	#define Prof_ENABLED		// or -DProf_ENABLED; without it all of this is nothing
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
 * A zone's name is an identifier that may begin with a digit, in a name space of its own.
 *
 * Time is measured for each thread and for each stack of zones on its own: a node of a tree.  To
 * enter and to leave is to read the clock and to store a few words, without lock, system call or
 * allocation.  What is shown is made of differences of counters that are never cleared.
 *
 * Link with libsonde-zones, or put all in one file of C with sonde_zones.h (Prof_IMPLEMENTATION).
 * C99 and C++11, gcc and clang, x86-64 and aarch64, Linux.
 *
 * The memory's layout is in man/sonde-zones.5.  Names that end with `_` are none of yours.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PROF_API_VERSION 1

#if defined(__GNUC__)
#define Prof_UNUSED_ __attribute__((unused))
/* Of a program that is compiled with -finstrument-functions, these are no functions. */
#define Prof_UNHOOKED_ __attribute__((no_instrument_function))
/* In cold code compilers would make calls of what is smaller than it looks. */
#define Prof_MEMBER_	  Prof_UNHOOKED_ __attribute__((always_inline)) inline
#define Prof_INLINE_	  static Prof_UNUSED_ Prof_MEMBER_
#define Prof_LIKELY_(x)	  __builtin_expect(!!(x), 1)
#define Prof_UNLIKELY_(x) __builtin_expect(!!(x), 0)
#ifndef Prof_API_
#define Prof_API_ __attribute__((visibility("default")))
#endif
#else
#error "prof.h needs gcc or clang"
#endif
/* What programs may have their compiler warn of in the other language's words. */
#ifdef __cplusplus
#define Prof_NULL_	      nullptr
#define Prof_AS_(type, value) static_cast<type>(value)
#else
#define Prof_NULL_	      0
#define Prof_AS_(type, value) ((type)(value))
#endif

/*
 * A named stretch of code.  Lives as long as its object file does; what is shown of it is copied
 * when it is first entered.
 */
typedef struct Prof_Zone {
	const char *name;
	const char *file; /* NULL: not known */
	uint32_t line;
	uint32_t id;	  /* 0 until first entered; the runtime's */
	void *highlevel;  /* yours */
	const void *code; /* of zones that are functions: their address */
} Prof_Zone;

#define Prof_ZONE_(name, file, line)                                                               \
	{                                                                                          \
		name, file, line, 0, Prof_NULL_, Prof_NULL_                                        \
	}

/*
 * One stack of zones of one thread.  Its first 56 bytes are shared with readers, their layout that
 * of struct zonewire_node.
 */
typedef struct Prof_Zone_Stack Prof_Zone_Stack;
struct Prof_Zone_Stack {
	/*
	 * The ticks of the clock spent in it and below.  While the zone is open the tick of its
	 * beginning is taken off, which makes it negative: so one word tells both, and cannot be
	 * read torn.
	 */
	int64_t ticks;
	uint64_t entries;
	uint32_t zone;			    /* id */
	uint32_t parent;		    /* number of the node; of a root its own */
	uint32_t slot;			    /* whose tree */
	uint32_t depth;			    /* of a root 0 */
	uint32_t number;		    /* its own */
	uint32_t recursion;		    /* nodes of the same zone above it */
	uint32_t first_child, next_sibling; /* 0: none */
	uint32_t skipped;		    /* entries below it for which there was no room */
	uint32_t note;			    /* of texts and numbers; 0: none */
	Prof_Zone_Stack *up;		    /* the parent; NULL: nothing may be left here */
	/* The children that were entered last, by id modulo 8; never NULL. */
	Prof_Zone_Stack *child[8];
};

/* What a thread has at hand. */
typedef struct Prof_Thread_ {
	Prof_Zone_Stack *top;
	/*
	 * 0: all is done inline.  Each byte has one kind of writer: the thread itself, or others,
	 * who hold the runtime's lock.
	 */
	uint32_t mode;
	/*
	 * Entries that are counted and not measured, because there is no room or zones are switched
	 * off.  Not 0: then mode has another bit than Prof_EVENTS_.
	 */
	uint32_t skipped;
	struct Prof_Ring_ *ring; /* good while Prof_EVENTS_ is in mode */
	/* The runtime's: the slot it is at, its own, and the fiber that makes these two differ. */
	void *slot, *own_slot, *fiber;
	uint32_t own_skipped, has_ended;
} Prof_Thread_;

/* Where a thread has been; the head is shared with readers. */
struct Prof_Ring_ {
	uint64_t head; /* events ever written */
	uint64_t *events;
	uint64_t mask; /* their count less one */
};

/* In mode. */
#define Prof_HELD_    0x00000001u /* the runtime is changing what is the thread's */
#define Prof_SKIPS_   0x00000100u /* skipped is perhaps not 0 */
#define Prof_UNTOLD_  0x00010000u /* nobody says whether zones are off; the slow way asks */
#define Prof_CALL_    0x00020000u /* for ever, where the clock is not the processor's */
#define Prof_EVENTS_  0x20000000u
#define Prof_WAS_OFF_ 0x40000000u /* it was off, and skipped is perhaps not 0 */
#define Prof_IS_OFF_  0x80000000u /* zones are switched off */

extern Prof_API_ __thread Prof_Thread_ Prof_thread_ __attribute__((tls_model("initial-exec")));
/* A stack of zones that nobody is ever in. */
extern Prof_API_ Prof_Zone_Stack Prof_dummy;
/*
 * The kernel clears this page in children. So if the first word is 0, the memory of zones belongs
 * to the parent; after _Fork and clone that is the only way to know.
 */
extern Prof_API_ uint32_t Prof_home_[1024];

/* ---- out of line; also the interface for other languages ---- */

/*
 * The zone of that name, file and line; the same for the same three, and the program's until it
 * ends.  file may be NULL.  name is copied.  NULL in none of the cases: where there is no room for
 * zones any more it is the zone "…other".  One that is known is found without a lock, in some tens
 * of nanoseconds; a new one takes the lock, once.
 */
Prof_API_ Prof_Zone *Prof_zone(const char *name, const char *file, uint32_t line);
/* Enters the zone; leaves the one entered last. */
Prof_API_ void Prof_enter(Prof_Zone *zone);
Prof_API_ void Prof_leave(void);
/* Counts an entry, takes no time. */
Prof_API_ void Prof_count(Prof_Zone *zone);

/* The slow ways of the functions below. */
Prof_API_ Prof_Zone_Stack *Prof_enter_slow_(Prof_Zone *zone);
Prof_API_ Prof_Zone_Stack *Prof_enter_block_slow_(Prof_Zone *zone);
Prof_API_ void Prof_leave_slow_(void);
Prof_API_ void Prof_leave_to_(Prof_Zone_Stack *node);
/* The child of the thread's top, made if need be; NULL: no room (or switched off). */
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

/* Plain stores and loads that a reader in another thread or process may look at. */
#define Prof_PUT_(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)
#define Prof_GET_(place)	__atomic_load_n(&(place), __ATOMIC_RELAXED)
#define Prof_IS_HOME_()		Prof_LIKELY_(Prof_GET_(Prof_home_[0]) != 0)
/* Keeps a signal handler of this thread from seeing stores in another order. */
#define Prof_FENCE_() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/*
 * One instruction where there is one: shorter, and a signal handler comes before or after it.  What
 * ThreadSanitizer is to see must be written out.
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
/* sum += place, and whether that was carried; gcc would take carrying for an accident. */
#define Prof_SUM_(sum, place, carry) __asm__("addq %2, %0" : "+r"(sum), "=@ccc"(carry) : "m"(place))
#else
#define Prof_ADD_IS_ONE_	 0
#define Prof_ADD_(place, value)	 Prof_PUT_(place, (place) + (value))
#define Prof_TAKE_(place, value) Prof_PUT_(place, (place) - (value))
#define Prof_SUM_(sum, place, carry)                                                               \
	((sum) += Prof_AS_(uint64_t, place), (carry) = (sum) < Prof_AS_(uint64_t, place))
#endif

/*
 * These change the top of the stack first and last, while it is closed: so a signal handler that
 * comes in between finds a closed top, and what it enters is skipped and counted.  The node's ticks
 * are negative exactly while it is open.
 *
 * Prof_thread_ is named each time, and no pointer to it kept: with -fsanitize=null gcc asks whether
 * that is NULL by the flags of an addition, which the linker makes one that sets none.
 */

/* An event: from this tick on the thread is at that node. */
Prof_INLINE_ void Prof_event_(uint64_t now, uint32_t node)
{
	struct Prof_Ring_ *ring = Prof_thread_.ring;
	uint64_t head = Prof_GET_(ring->head);

#if !defined(__x86_64__)
	/* What says that there is a ring has been read before the ring. */
	(void)__atomic_load_n(&Prof_thread_.mode, __ATOMIC_ACQUIRE);
#endif
	Prof_PUT_(Prof_GET_(ring->events)[head & Prof_GET_(ring->mask)], now << 20 | node);
	__atomic_store_n(&ring->head, head + 1, __ATOMIC_RELEASE);
}

/* Entries that are skipped while zones are off: their ends may come when they are on again. */
Prof_INLINE_ void Prof_skip_(int change)
{
	Prof_PUT_(
		Prof_thread_.skipped, Prof_GET_(Prof_thread_.skipped) + Prof_AS_(uint32_t, change));
	Prof_FENCE_();
}

/* Enters node from the top, which is open. */
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

/* Leaves the top, which is node, for up. */
Prof_INLINE_ void Prof_leave_top_(Prof_Zone_Stack *node, Prof_Zone_Stack *up, int has_events)
{
	uint64_t now = Prof_ticks_(), ticks = now;
	int was_open;

	/* What is negative stays so: the clock went back.  What is not negative was not open. */
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
 * The node entered; NULL: skipped, but counted, so that Prof_leave_ undoes it.  Zones that end with
 * their block know by their node what to undo, so that there NULL is nothing at all, and
 * Prof_dummy an entry that was counted.
 *
 * Reading the clock waits for what was begun before it, and the longest way is that from the top to
 * its child and the child's zone: so that is begun first.  It is shortest right behind the end of
 * another zone, which writes the top last of all.  What ends with its block asks for the mode
 * before it goes on from the top, so that it does nearly nothing while zones are off.
 */
Prof_INLINE_ Prof_Zone_Stack *Prof_enter_as_(Prof_Zone *zone, int is_block)
{
	Prof_Zone_Stack *top = Prof_GET_(Prof_thread_.top), *node;
	uint32_t mode = Prof_GET_(Prof_thread_.mode), id;

	if (is_block && Prof_UNLIKELY_(mode & Prof_IS_OFF_))
		return Prof_NULL_;
	id = Prof_GET_(zone->id);
	node = top->child[id & 7];
	if (Prof_UNLIKELY_(mode != 0)) {
		if (Prof_LIKELY_(mode == Prof_EVENTS_)) {
			if (Prof_LIKELY_(node->zone == id) && Prof_LIKELY_(top->ticks < 0) &&
				Prof_IS_HOME_())
				return Prof_enter_top_(node, 1);
		} else if (!is_block && Prof_LIKELY_(mode & Prof_IS_OFF_)) {
			/* Counted first: from then on that it was off is not forgotten. */
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

/* For zones that end with their block, which know what they have entered. */
Prof_INLINE_ Prof_Zone_Stack *Prof_enter_block_(Prof_Zone *zone)
{
	return Prof_enter_as_(zone, 1);
}

Prof_INLINE_ void Prof_leave_node_(Prof_Zone_Stack *node)
{
	uint32_t mode;

	if (!node)
		return;
	/* What was entered has something above it. */
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

/* What may be handed to Prof_update, by both generations of IProf's names. */
typedef enum {
	Prof_discard = 0,
	Prof_record = 1,
	Prof_accumulate = 1,
	PROF_discard = 0,
	PROF_accumulate = 1
} Prof_UpdateMode;
typedef Prof_UpdateMode ProfUpdateMode;

/*
 * Ends a frame (of time).  record: gather what all threads' zones have done since the last call,
 * and put it into the history; 0: paused, the shown data stays as it is, and what was done in the
 * meantime is in no frame.
 */
Prof_API_ void Prof_update(int record);

/*
 * A stream of frames of its own, "audio" or "request": what the calling thread's zones have done
 * since its last call is a frame of that stream.  name is copied; up to 15 streams.
 */
Prof_API_ void Prof_update_stream(const char *name);

/* ---- what is shown (see prof_internal.h for the report itself) ---- */

typedef enum {
	Prof_SELF_TIME,
	Prof_HIERARCHICAL_TIME,
	Prof_CALL_GRAPH,
	Prof_CALL_GRAPH_DESCENDENTS, /* all that is below the focus, not just its children */
	Prof_SORT_NAME,
	Prof_SORT_SELF_TIME = Prof_SELF_TIME,
	Prof_SORT_HIERARCHICAL_TIME = Prof_HIERARCHICAL_TIME,
	/* The last of those that forks' programs go through: (mode + 1) % Prof_Last_Mode. */
	Prof_Last_Mode = Prof_CALL_GRAPH
} Prof_Report_Mode;
Prof_API_ void Prof_set_report_mode(Prof_Report_Mode mode);
Prof_API_ Prof_Report_Mode Prof_get_report_mode(void);

/* The row of the cursor: by so many further down, or that one. */
Prof_API_ void Prof_move_cursor(int num);
Prof_API_ void Prof_set_cursor(int num);
/* Shows the call graph around the zone at the cursor, or around its largest parent. */
Prof_API_ void Prof_select(void);
Prof_API_ void Prof_select_parent(void);
/* The frame that is shown: 0 the present (averaged), n: n frames ago.  move: negative is older. */
Prof_API_ void Prof_move_frame(int num);
Prof_API_ void Prof_set_frame(int num);
/* 0: no averaging, 1: 90 % within 0.8 s (at first), 2: within 2.5 s.  Two names for one thing. */
Prof_API_ void Prof_set_smoothing(int slot);
Prof_API_ void Prof_set_average(int slot);
Prof_API_ int Prof_get_smoothing(void);

typedef enum {
	Prof_FLATTEN_RECURSION, /* a recursive zone is one row (at first) */
	Prof_SPREAD_RECURSION	/* each depth of it is one */
} Prof_Recursion;
typedef Prof_Recursion Prof_Recursion_Mode;
Prof_API_ void Prof_set_recursion(Prof_Recursion recursion);

/* Keeps the history as it is as soon as a frame takes longer than that; ms <= 0: never. */
Prof_API_ void Prof_freeze_over(double ms);
Prof_API_ void Prof_set_frozen(int frozen);
Prof_API_ int Prof_get_frozen(void);

/* ---- control ---- */

/* Switches measuring off or on for all threads; zones that are open stay open. At first on. */
Prof_API_ void Prof_set_enabled(int enabled);
/* Event rings, for a timeline and so that samples know their zone: for all threads, from now on. */
Prof_API_ void Prof_set_events(int enabled);
/*
 * A clock of the program's own, for simulations and tests: `now` gives ticks that never go back and
 * begin above 0, hz how many there are in a second.  NULL: the machine's.  Before the first zone.
 */
Prof_API_ void Prof_set_clock(uint64_t (*now)(void), double hz);

/* ---- threads and fibers ---- */

/* Names the calling thread, up to 31 bytes; else its name is the kernel's. */
Prof_API_ void Prof_thread_name(const char *name);

/*
 * A fiber (coroutine) has a zone stack of its own; which is current is the thread's.  NULL is the
 * thread's own stack.  A fiber may go from thread to thread, and be the current one of one thread
 * only.  While it is not current its open zones take no time.
 */
typedef struct Prof_Fiber Prof_Fiber;
Prof_API_ Prof_Fiber *Prof_fiber_create(const char *name);
Prof_API_ void Prof_fiber_switch(Prof_Fiber *fiber);
/* Not the current one of any thread. */
Prof_API_ void Prof_fiber_destroy(Prof_Fiber *fiber);

/* ---- leaving zones by other ways ---- */

/*
 * Where the calling thread's zone stack stands, to come back to after a longjmp: zones entered
 * since then are left, now.
 */
typedef struct Prof_Mark {
	void *node;
	uint32_t skipped;
} Prof_Mark;
Prof_API_ Prof_Mark Prof_mark(void);
Prof_API_ void Prof_return_to(Prof_Mark mark);

/* ---- saying more of the zone that is open ---- */

/* The last text (cut to 39 bytes) and the count, sum, least and greatest of numbers are kept. */
Prof_API_ void Prof_text(const char *text);
Prof_API_ void Prof_number(double number);

/* ---- drawing with OpenGL: libsonde-zones-gl ---- */

/*
 * Draws the report, width by height; the first text's base line begins at (sx, sy), lines are one
 * below the other by line_spacing (negative: y grows upwards), times have `precision` digits (1 to
 * 4), counts two.  print_text draws a text whose base line begins at (x, y) in the current colour;
 * text_width says how wide one is; both NULL: a font of its own.  For a legacy or compatibility
 * context, in its current coordinates and blending (best GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
 * leaves its state as it was.  The graph has its origin at (sx, sy), and 128 frames; what is higher
 * than the viewport has room for is drawn along the edge.
 *
 * prof_gl.h has the same for core-profile contexts and for other devices.
 */
Prof_API_ void Prof_draw_gl(float sx, float sy, float width, float height, float line_spacing,
	int precision, void (*print_text)(float x, float y, char *text),
	float (*text_width)(char *text));
Prof_API_ void Prof_draw_graph_gl(float sx, float sy, float x_per_frame, float y_per_ms);

/* ---- IProf's insides that programs have used ---- */

/* The calling thread's innermost zone. */
#define Prof_stack (Prof_thread_.top)

/* Its name of a clock's tick, and the processor's. */
typedef int64_t Prof_Int64;
Prof_INLINE_ void Prof_get_timestamp(Prof_Int64 *ticks)
{
	*ticks = Prof_AS_(Prof_Int64, Prof_ticks_());
}

/* C's linkage, in C++. */
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
 * Prof_Define(z); is a public zone, at file scope or in a function; `static`, or `extern "C"`, may
 * stand before it.  extern Prof_Declare(z); is one that is defined elsewhere.
 */
#include "prof_define.h"

#ifdef Prof_ENABLED

#define Prof_CAT2_(a, b) a##b
#define Prof_CAT_(a, b)	 Prof_CAT2_(a, b)
/*
 * A name that no other zone in sight has, unless it is of the same name and line.  z is turned into
 * a text at once in each macro below, as it may be the name of a macro too.
 */
#define Prof_PRIVATE_(z) Prof_CAT_(Prof_private_##z##_, __LINE__)

/*
 * These begin a private zone and a public one, and stand where declarations may, without semicolon.
 * Prof_End leaves the zone that was entered last, wherever that was.
 */
#define Prof_Begin(z)                                                                              \
	static Prof_Zone Prof_PRIVATE_(z) = Prof_ZONE_(#z, __FILE__, __LINE__);                    \
	Prof_ENTER_(Prof_dummy_##z##_, &Prof_PRIVATE_(z));
#define Prof_Region(z) Prof_ENTER_(Prof_dummy_##z##_, &Prof_region_##z);
#define Prof_End       Prof_leave_();
/* A zone whose name is known only when it is entered; that name and place are one zone. */
#define Prof_Begin_Name(text) Prof_ENTER_(Prof_dummy_name_, Prof_zone(text, __FILE__, __LINE__));
#ifdef __cplusplus
#define Prof_ENTER_(dummy, zone) ((void)Prof_enter_(zone))
#else
#define Prof_ENTER_(dummy, zone)                                                                   \
	Prof_UNUSED_ int Prof_CAT_(dummy, __LINE__) = (Prof_enter_(zone), 0)
#endif

/* Counts, takes no time: no clock is read.  The second one is a statement, with semicolon. */
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
 * These end with their block, and are declarations, with semicolon: a private zone (in C++ also
 * called Prof), a public one, one with the name of the function, one whose name is known only when
 * it is entered.
 */
#define Prof_Block(z)                                                                              \
	static Prof_Zone Prof_PRIVATE_(z) = Prof_ZONE_(#z, __FILE__, __LINE__);                    \
	Prof_GUARD_(Prof_scope_##z##_, Prof_PRIVATE_(z))
#define Prof_Scope(z) Prof_GUARD_(Prof_scope_##z##_, Prof_region_##z)
#define Prof_Function                                                                              \
	static Prof_Zone Prof_PRIVATE_(function) = Prof_ZONE_(__func__, __FILE__, __LINE__);       \
	Prof_GUARD_(Prof_scope_function_, Prof_PRIVATE_(function))
#define Prof_Name(text) Prof_GUARD_(Prof_scope_name_, *Prof_zone(text, __FILE__, __LINE__))

/* Of an lvalue of type Prof_Zone.  IProf had a cache at each place, which here is unused. */
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
