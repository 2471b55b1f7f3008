/*
 * A compiler at work: compiles a C file ROUNDS times in one process, through tcc's library.
 *
 *	tcc ROUNDS TCC_SOURCE_FOLDER FILE.c
 */
#include <stdio.h>
#include <stdlib.h>

#include "libtcc.h"

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: tcc ROUNDS TCC_SOURCE_FOLDER FILE.c\n");
		return 2;
	}
	for (int i = 0; i < atoi(argv[1]); i++) {
		char include[4096];
		TCCState *tcc = tcc_new();

		snprintf(include, sizeof(include), "%s/include", argv[2]);
		tcc_set_lib_path(tcc, argv[2]);
		tcc_add_sysinclude_path(tcc, include);
		tcc_add_sysinclude_path(tcc, "/usr/include/x86_64-linux-gnu");
		tcc_add_sysinclude_path(tcc, "/usr/include");
		tcc_define_symbol(tcc, "SQLITE_THREADSAFE", "0");
		tcc_set_output_type(tcc, TCC_OUTPUT_OBJ);
		if (tcc_add_file(tcc, argv[3]) != 0)
			return 1;
		tcc_delete(tcc);
	}
	return 0;
}
