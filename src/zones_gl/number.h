#ifndef SONDE_ZONES_GL_NUMBER_H
#define SONDE_ZONES_GL_NUMBER_H

#include <stddef.h>

/*
 * Writes value, rounded to the given decimals; if that is longer than `most` characters, with fewer
 * decimals, then with a letter (k, M, G, T).
 */
void number_text(char *text, size_t size, double value, int decimals, int most);

#endif
