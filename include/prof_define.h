#ifndef PROF_DEFINE_H
#define PROF_DEFINE_H

/*
 * Prof_Define and Prof_Declare, which must be declarations whatever precedes them: nothing,
 * `static`, `extern`, `extern "C"`.  Included only by prof.h.
 *
 * Without Prof_ENABLED they must produce neither code nor data.  In C with gcc, they declare a
 * struct name, which may have any storage class.  Otherwise, they declare a function that is never
 * defined, at file scope, or an object without size, in a function, where functions cannot be
 * static.  (clang makes one byte of that object at -O0.) Compilers warn about these, and about
 * initialized `extern "C"` objects, but not in a system header.
 */
#pragma GCC system_header

/* For prof_off.h: a value that callers may ignore. */
#define Prof_no_success_(...) ((void)sizeof(__VA_ARGS__), 1)

#if defined(Prof_ENABLED)
#define Prof_Define(z)	Prof_Zone Prof_region_##z = Prof_ZONE_(#z, __FILE__, __LINE__)
#define Prof_Declare(z) Prof_Zone Prof_region_##z
#elif defined(__cplusplus)
extern "C++" {
template <bool is_at_file_scope> struct Prof_nothing_ {
	typedef char type[0];
};
template <> struct Prof_nothing_<true> {
	typedef int type(void);
};
}
#define Prof_Define(z)                                                                             \
	Prof_UNUSED_ Prof_nothing_<(__builtin_FUNCTION()[0] == 0)>::type Prof_nothing_##z
#define Prof_Declare(z) Prof_Define(z)
#elif defined(__clang__)
typedef char Prof_nothing_[0];
#define Prof_Define(z)                                                                             \
	Prof_UNUSED_ __typeof__(*__builtin_choose_expr(                                            \
		__builtin_strlen(__builtin_FUNCTION()) == 0, (int (*)(void))0,                     \
		(Prof_nothing_ *)0)) Prof_nothing_##z
#define Prof_Declare(z) Prof_Define(z)
#else
#define Prof_Define(z)                                                                             \
	struct Prof_nothing_;                                                                      \
	struct Prof_nothing_
#define Prof_Declare(z) Prof_Define(z)
#endif

#endif
