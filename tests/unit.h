#ifndef SONDE_TESTS_UNIT_H
#define SONDE_TESTS_UNIT_H

/*
 * What every unit test includes: cmocka with the headers that it needs first, and the head of a
 * test that has no state of its own.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/*
 * Defines a test for cmocka_unit_test(): TEST(name) { … }.  One with a setup function is written
 * out, as it uses its state.
 */
#define TEST(name) static void name(void **state __attribute__((unused)))

#endif
