/*
 * For the single-step oracle: the C library's own code, by what calls back, jumps, loads and binds
 * lazily. It checks its own results and exits with 0 if they are right.
 */
#include <dlfcn.h>
#include <iconv.h>
#include <locale.h>
#include <math.h>
#include <regex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#define noinline __attribute__((noinline, noclone))

static int failures;

static noinline void check(int good, const char *what)
{
	if (good)
		return;
	failures++;
	fprintf(stderr, "oracle_libc: %s\n", what);
}

static noinline void print(void)
{
	char text[128];
	wchar_t wide[64];
	double number;
	int size = snprintf(text, sizeof(text), "%d %-8s|%.3f %Lg %#lx %c", -42, "left", 3.14159,
		2.5L, 255ul, 'x');

	check(size > 0 && strcmp(text, "-42 left    |3.142 2.5 0xff x") == 0, "snprintf");
	check(sscanf("7 12.5 word", "%d %lf %20s", &size, &number, text) == 3, "sscanf");
	check(size == 7 && number == 12.5, "scanned");
	check(swprintf(wide, 64, L"%ls %d", L"wide", 5) == 6, "swprintf");
	check(strtod("1.25e10", NULL) == 1.25e10, "strtod");
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static noinline void sort(void)
{
	const char *words[40];
	char room[40][4];

	for (int i = 0; i < 40; i++) {
		snprintf(room[i], sizeof(room[i]), "%d", (i * 17) % 40);
		words[i] = room[i];
	}
	qsort(words, 40, sizeof(*words), compare);
	for (int i = 1; i < 40; i++)
		check(strcmp(words[i - 1], words[i]) < 0, "qsort");
}

static noinline void allocate(void)
{
	void *kept[32];

	for (size_t i = 0; i < 32; i++)
		kept[i] = malloc((i * 37 % 13 + 1) << (i % 12));
	for (size_t i = 0; i < 32; i += 2)
		free(kept[i]);
	for (size_t i = 1; i < 32; i += 2)
		kept[i] = realloc(kept[i], i * 100);
	for (size_t i = 1; i < 32; i += 2)
		free(kept[i]);
	free(malloc((size_t)1 << 20));
}

static noinline void convert(void)
{
	char in[] = "gr\xc3\xbc\xc3\x9f", out[32], *from = in, *to = out;
	size_t left = sizeof(in) - 1, room = sizeof(out);
	iconv_t c = iconv_open("UTF-16LE", "UTF-8");

	if (c == (iconv_t)-1)
		return;
	check(iconv(c, &from, &left, &to, &room) == 0 && sizeof(out) - room == 8, "iconv");
	iconv_close(c);
}

static noinline void match(void)
{
	regmatch_t found[3];
	regex_t r;

	check(regcomp(&r, "^([a-z]+)[0-9]{2,3}(x|yz)$", REG_EXTENDED) == 0, "regcomp");
	check(regexec(&r, "word123yz", 3, found, 0) == 0, "regexec");
	check(found[1].rm_eo == 4 && found[2].rm_so == 7, "matched");
	regfree(&r);
}

static noinline void load(void)
{
	void *library = dlopen("libm.so.6", RTLD_LAZY);
	double (*power)(double, double);

	if (!library)
		return;
	void *symbol = dlsym(library, "pow");
	memcpy(&power, &symbol, sizeof(power));
	check(power && power(2, 10) == 1024, "pow");
	dlclose(library);
}

static jmp_buf place;
static volatile sig_atomic_t handled;

static noinline void jump(int depth)
{
	if (depth == 0)
		longjmp(place, 3);
	if (handled)
		jump(depth - 1);
	handled = handled + 0;
}

static void handle(int signal)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", signal);
	handled++;
}

static noinline void signals_and_jumps(void)
{
	struct sigaction action = {.sa_handler = handle};

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	check(handled == 1, "handled");
	if (setjmp(place) == 0)
		jump(5);
}

static noinline void others(void)
{
	time_t when = 86400 * 365;
	char text[64];
	struct tm tm;

	check(strftime(text, sizeof(text), "%Y-%m-%d", gmtime_r(&when, &tm)) == 10, "strftime");
	check(strtok(text, "-") != NULL && strtol("0x1f", NULL, 16) == 31, "strtol");
	check(setlocale(LC_ALL, "C") != NULL && getenv("NOWHERE") == NULL, "setlocale");
	srand(3);
	check(rand() != rand(), "rand");
}

int main(void)
{
	print();
	sort();
	allocate();
	convert();
	match();
	load();
	signals_and_jumps();
	others();
	return failures != 0;
}
