#ifndef SONDE_TESTS_TRACE_FILES_H
#define SONDE_TESTS_TRACE_FILES_H

/*
 * Folders of uftrace and gprofng made by hand, as folder_files.h has folders.
 */

#include "folder_files.h"

/* A call into an address (kind 0), an exit from it (1), records lost (2). */
void trace_files_record(struct strbuf *bytes, uint64_t time_ns, unsigned int kind,
	unsigned int depth, uint64_t addr, bool has_more);

enum { TRACE_BASE = 0x10000, TRACE_MAIN = 0x11000, TRACE_A = 0x11100, TRACE_B = 0x11200 };

/*
 * uftrace: info, task.txt, a map and symbols of one program with main, a and b; no records yet.
 * max_stack 0: not told.
 */
void trace_files_uftrace(struct strbuf *bytes, unsigned int max_stack);
/* The same with a thread, a forked child, arguments, switches and everything. */
void trace_files_uftrace_whole(struct strbuf *bytes);

/*
 * What the whole one lacks: loaded libraries, symbols with sizes and in files with a hash in their
 * names, events, names of threads, their ends, a longjmp, and an end in the middle of an argument.
 */
void trace_files_uftrace_rest(struct strbuf *bytes);

/* gprofng: an experiment with two stacks, clock and heap packets, and a process it started. */
void trace_files_gprofng(struct strbuf *bytes);

#endif
