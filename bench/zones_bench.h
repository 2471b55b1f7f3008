#ifndef SONDE_BENCH_ZONES_BENCH_H
#define SONDE_BENCH_ZONES_BENCH_H

/* What zones_bench measures: its own variants, and those of whoever is linked or loaded with it. */

#ifdef __cplusplus
extern "C" {
#endif

/* The compiler may move nothing over it, and leave out nothing before it. */
#define KEEP() __asm__ volatile("" ::: "memory")

struct variant {
	const char *name; /* NULL: the table's end */
	void (*run)(int pairs);
	void (*set)(int on); /* before and after; NULL: nothing */
	double most;	     /* the bound of its ratio; 0: none; negative: of its nanoseconds */
	int batch;	     /* so many times the usual pairs in a batch; 0: one */
};

/* Loaded ones, by dlsym, and sonde's own. */
extern __attribute__((visibility("default"))) const struct variant zones_variants[];
/* Linked to it where they are: the hook library's, and peers'. */
#define MAYBE __attribute__((weak))
extern MAYBE const struct variant zones_hooked[], zones_read[], peer_iprof[], peer_spall[],
	peer_tracy[], peer_tracy_c[];

#ifdef __cplusplus
}
#endif
#endif
