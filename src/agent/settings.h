#ifndef SONDE_AGENT_SETTINGS_H
#define SONDE_AGENT_SETTINGS_H

/* What `sonde agent` was asked for.  Texts are borrowed. */

#include <stdbool.h>
#include <stdint.h>

#define AGENT_STORE_DEFAULT "/var/lib/sonde/segments"
#define AGENT_SPOOL_DEFAULT "/var/lib/sonde/spool"

struct agent_settings {
	uint64_t interval_ns;	 /* between samples of CPU time, before any halving */
	bool real;		 /* also time off the CPU */
	uint64_t every_ns;	 /* length of a segment */
	const char *store;	 /* a folder, or a URL with "://" */
	const char *credentials; /* for it: a file; NULL: none */
	const char *ca_file;	 /* certificates to trust; NULL: the system's */
	const char *host;	 /* what this machine is called there; NULL: its own name */
	const char *spool;     /* where segments wait for the store; NULL: in it, or the default */
	uint64_t spool_bytes;  /* of segments in the spool; the oldest are dropped */
	uint64_t keep_ns;      /* older ones are dropped, too; 0: none */
	double cpu_share;      /* of one CPU; 0: by the number of CPUs (allowance.h) */
	uint64_t memory_bytes; /* 0: likewise */
	const char *metrics;   /* a file for text metrics; NULL: none */
	const char *listen;    /* where to take other programs' profiles; NULL: nowhere */
	const char *token;     /* a file with what they must say; NULL: nothing */
	bool no_symbols;       /* names are left to sonde symbolize */
};

#endif
