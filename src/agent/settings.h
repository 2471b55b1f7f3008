#ifndef SONDE_AGENT_SETTINGS_H
#define SONDE_AGENT_SETTINGS_H

/* The settings of `sonde agent`, from its options and its file.  Texts are borrowed. */

#include <stdbool.h>
#include <stdint.h>

#define AGENT_STORE_DEFAULT "/var/lib/sonde/segments"
#define AGENT_SPOOL_DEFAULT "/var/lib/sonde/spool"

struct agent_settings {
	uint64_t interval_ns;	 /* between samples of CPU time, before any halving */
	bool real;		 /* also time off the CPU */
	uint64_t every_ns;	 /* length of a segment */
	const char *store;	 /* a folder, or a URL with "://" */
	const char *credentials; /* a file, for the store; NULL: none */
	const char *ca_file;	 /* certificates to trust; NULL: the system's */
	const char *host;	 /* this machine's name in the store; NULL: its own */
	const char *spool;     /* where segments wait for the store; NULL: in it, or the default */
	uint64_t spool_bytes;  /* of segments in the spool; the oldest are dropped */
	uint64_t keep_ns;      /* older segments are dropped, too; 0: none are */
	double cpu_share;      /* of one CPU; 0: by the number of CPUs (allowance.h) */
	uint64_t memory_bytes; /* 0: likewise */
	const char *metrics;   /* a file for text metrics; NULL: none */
	const char *listen;    /* where to take other programs' profiles; NULL: nowhere */
	const char *token;     /* a file with the token that they must send; NULL: none */
	bool no_symbols;       /* names are left to sonde symbolize */
};

#endif
