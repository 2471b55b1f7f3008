#ifndef SONDE_ZONEREPORT_FIGURES_H
#define SONDE_ZONEREPORT_FIGURES_H

/* The two functions of libm that zones need, so that programs need not be linked with it. */

/* 10^-x for x >= 0, to 15 digits; 0 from 307 on. */
double figure_tenth_power(double x);
/* The square root; 0 for values not above 0. */
double figure_root(double x);

#endif
