#ifndef SONDE_ZONES_GL_NUMBER_H
#define SONDE_ZONES_GL_NUMBER_H

#include <stddef.h>

/*
 * Writes value, rounded to so many decimals; with fewer, then with a letter (k, M, G, T), where it
 * were longer than `most` characters.
 */
void number_text(char *text, size_t size, double value, int decimals, int most);

#endif
