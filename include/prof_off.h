#ifndef PROF_OFF_H
#define PROF_OFF_H

/*
 * The names of prof.h if Prof_ENABLED is not defined: they produce neither code nor data, and need
 * no library.  Arguments are not evaluated, but their variables count as used.  Included only by
 * prof.h.
 */

/* ---- marking zones ---- */

#ifdef __cplusplus
#define Prof(z)
#endif
#define Prof_Scope(z)
#define Prof_Block(z)
#define Prof_Function
#define Prof_Name(text)
#define Prof_Begin(z)
#define Prof_Region(z)
#define Prof_Begin_Name(text)
#define Prof_End	((void)0);
#define Prof_Counter(z) ((void)0);
#define Prof_Count(z)	((void)0)
#define Prof_Begin_Cache(z)
#define Prof_Begin_Raw(zone)
#define Prof_Begin_Code(zone)
#define Prof_End_Raw() ((void)0)

/* ---- everything else ---- */

/* For a number, which may be a bit-field; for anything else. */
#define Prof_no_number_(number) ((void)sizeof((number) + 0))
#define Prof_no_value_(...)	((void)sizeof(__VA_ARGS__))

#define Prof_zone(name, file, line) Prof_AS_(Prof_Zone *, Prof_NULL_)
#define Prof_enter(zone)	    Prof_no_value_(zone)
#define Prof_leave()		    ((void)0)
#define Prof_count(zone)	    Prof_no_value_(zone)
#define Prof_update(record)	    Prof_no_number_(record)
#define Prof_update_stream(...)	    Prof_no_value_(__VA_ARGS__)
#define Prof_set_report_mode(mode)  Prof_no_value_(mode)
#define Prof_get_report_mode()	    Prof_SELF_TIME
#define Prof_move_cursor(num)	    Prof_no_number_(num)
#define Prof_set_cursor(num)	    Prof_no_number_(num)
#define Prof_select()		    ((void)0)
#define Prof_select_parent()	    ((void)0)
#define Prof_move_frame(num)	    Prof_no_number_(num)
#define Prof_set_frame(num)	    Prof_no_number_(num)
#define Prof_set_smoothing(slot)    Prof_no_number_(slot)
#define Prof_set_average(slot)	    Prof_no_number_(slot)
#define Prof_get_smoothing()	    0
#define Prof_set_recursion(way)	    Prof_no_value_(way)
#define Prof_freeze_over(ms)	    Prof_no_number_(ms)
#define Prof_set_frozen(frozen)	    Prof_no_number_(frozen)
#define Prof_get_frozen()	    0
#define Prof_set_enabled(enabled)   Prof_no_number_(enabled)
#define Prof_set_events(enabled)    Prof_no_number_(enabled)
#define Prof_set_clock(...)	    ((void)0)
#define Prof_thread_name(...)	    Prof_no_value_(__VA_ARGS__)
#define Prof_fiber_create(...)	    Prof_AS_(Prof_Fiber *, Prof_NULL_)
#define Prof_fiber_switch(fiber)    Prof_no_value_(fiber)
#define Prof_fiber_destroy(fiber)   Prof_no_value_(fiber)
#ifdef __cplusplus
#define Prof_mark() Prof_Mark()
#else
#define Prof_mark() ((Prof_Mark){0, 0})
#endif
#define Prof_draw_gl(...)	((void)0)
#define Prof_draw_graph_gl(...) ((void)0)
#define Prof_return_to(mark)	Prof_no_value_(mark)
#define Prof_text(...)		Prof_no_value_(__VA_ARGS__)
#define Prof_number(number)	Prof_no_number_(number)

#endif
