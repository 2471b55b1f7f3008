/*
 * The thin layer above ncurses, and the only file that knows it.
 *
 * Only cells that differ from those last shown are passed to ncurses, which sends the differences
 * to the screen: a page without changes costs nothing.  A character for which the C library has
 * another width than we do would shift the row, so it is replaced by '?'.
 *
 * Double clicks are recognized here, because ncurses would delay single clicks to detect them.
 */
#include "view/tui/terminal.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "base/alloc.h"
#include "base/clock.h"

enum { DOUBLE_CLICK_MS = 400, ESCAPE_MS = 30 };

static struct {
	SCREEN *screen;
	struct tui_canvas shown; /* what was last passed to ncurses */
	bool is_utf8, must_redraw;
	attr_t attribute[TUI_STYLES];
	MEVENT mouse[8]; /* its events that are not reported yet, the last first */
	size_t mouse_count;
	uint64_t click_ms;
	unsigned click_x, click_y;
} terminal;

/* For a crash: the bytes that restore the terminal, ready to be written by a signal handler. */
static struct {
	struct termios modes;
	char text[256];
	size_t size;
} rescue;

/* ---- styles ---- */

struct look {
	short fore, back;      /* of 256 colours; -1: the terminal's own */
	short fore16, back16;  /* of 8 */
	attr_t attribute;      /* with colours */
	attr_t attribute_mono; /* without */
};

static const struct look looks[TUI_STYLES] = {
	[TUI_PLAIN] = {-1, -1, -1, -1, A_NORMAL, A_NORMAL},
	[TUI_TITLE] = {-1, -1, -1, -1, A_BOLD, A_BOLD},
	[TUI_DIM] = {244, -1, -1, -1, A_NORMAL, A_NORMAL},
	[TUI_LABEL] = {67, -1, COLOR_CYAN, -1, A_NORMAL, A_NORMAL},
	[TUI_KEY] = {31, -1, COLOR_CYAN, -1, A_BOLD, A_BOLD},
	[TUI_HEAD] = {255, 24, COLOR_WHITE, COLOR_BLUE, A_NORMAL, A_REVERSE},
	[TUI_SORTED] = {231, 31, COLOR_WHITE, COLOR_BLUE, A_BOLD, A_REVERSE | A_BOLD},
	[TUI_TROUBLE] = {196, -1, COLOR_RED, -1, A_BOLD, A_BOLD},
	[TUI_GOOD] = {34, -1, COLOR_GREEN, -1, A_NORMAL, A_NORMAL},
	[TUI_NOTICE] = {172, -1, COLOR_YELLOW, -1, A_BOLD, A_BOLD},
	[TUI_FOCUS] = {31, -1, COLOR_CYAN, -1, A_BOLD, A_BOLD},
	[TUI_MATCH] = {16, 220, COLOR_BLACK, COLOR_YELLOW, A_NORMAL, A_UNDERLINE | A_BOLD},
	[TUI_BAR] = {67, -1, COLOR_CYAN, -1, A_NORMAL, A_NORMAL},
	[TUI_BAR_SLOW] = {196, -1, COLOR_RED, -1, A_BOLD, A_BOLD},
	[TUI_BAR_SHOWN] = {231, 31, COLOR_WHITE, COLOR_BLUE, A_BOLD, A_BOLD},
	[TUI_FRAME] = {67, -1, COLOR_CYAN, -1, A_NORMAL, A_NORMAL},
	[TUI_BOX_CHOSEN] = {16, 222, COLOR_BLACK, COLOR_YELLOW, A_BOLD, A_BOLD | A_UNDERLINE},
	[TUI_BOX + 0] = {16, 110, COLOR_BLACK, COLOR_CYAN, A_NORMAL, A_NORMAL},
	[TUI_BOX + 1] = {16, 151, COLOR_BLACK, COLOR_GREEN, A_NORMAL, A_NORMAL},
	[TUI_BOX + 2] = {16, 180, COLOR_BLACK, COLOR_WHITE, A_NORMAL, A_NORMAL},
	[TUI_BOX + 3] = {16, 182, COLOR_BLACK, COLOR_MAGENTA, A_NORMAL, A_NORMAL},
	[TUI_BOX + 4] = {16, 116, COLOR_BLACK, COLOR_CYAN, A_NORMAL, A_NORMAL},
	[TUI_BOX + 5] = {16, 187, COLOR_BLACK, COLOR_GREEN, A_NORMAL, A_NORMAL},
	[TUI_HEAT + 0] = {28, -1, COLOR_GREEN, -1, A_NORMAL, A_NORMAL},
	[TUI_HEAT + 1] = {64, -1, COLOR_GREEN, -1, A_NORMAL, A_NORMAL},
	[TUI_HEAT + 2] = {100, -1, COLOR_YELLOW, -1, A_NORMAL, A_NORMAL},
	[TUI_HEAT + 3] = {136, -1, COLOR_YELLOW, -1, A_NORMAL, A_NORMAL},
	[TUI_HEAT + 4] = {172, -1, COLOR_YELLOW, -1, A_BOLD, A_BOLD},
	[TUI_HEAT + 5] = {166, -1, COLOR_RED, -1, A_NORMAL, A_BOLD},
	[TUI_HEAT + 6] = {160, -1, COLOR_RED, -1, A_BOLD, A_BOLD},
	[TUI_HEAT + 7] = {196, -1, COLOR_RED, -1, A_BOLD, A_BOLD},
};

static void choose_looks(bool no_color)
{
	bool has_color = !no_color && has_colors() && start_color() == OK;

	if (has_color)
		use_default_colors();
	for (int i = 0; i < TUI_STYLES; i++) {
		const struct look *look = &looks[i];
		bool is_rich = COLORS >= 256;

		terminal.attribute[i] = look->attribute_mono;
		if (has_color && COLOR_PAIRS > i + 1 &&
			init_pair((short)(i + 1), is_rich ? look->fore : look->fore16,
				is_rich ? look->back : look->back16) == OK)
			terminal.attribute[i] = look->attribute | COLOR_PAIR(i + 1);
	}
}

/* ---- a crash of our own ---- */

static void on_crash(int number)
{
	ssize_t written = write(STDOUT_FILENO, rescue.text, rescue.size);

	(void)written;
	tcsetattr(STDIN_FILENO, TCSANOW, &rescue.modes);
	raise(number); /* the default action: the handler is already reset */
}

static void add_rescue(const char *sequence)
{
	size_t size = sequence && sequence != (const char *)-1 ? strlen(sequence) : 0;

	if (size < sizeof(rescue.text) - rescue.size) {
		memcpy(rescue.text + rescue.size, sequence ? sequence : "", size);
		rescue.size += size;
	}
}

static void prepare_rescue(void)
{
	static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};
	struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND};

	rescue.size = 0;
	/* The mouse off, as ncurses has switched it on; colours, the cursor, and the page before.
	 */
	add_rescue("\033[?1006l\033[?1000l");
	add_rescue(tigetstr("sgr0"));
	add_rescue(tigetstr("cnorm"));
	add_rescue(tigetstr("rmkx"));
	add_rescue(tigetstr("rmcup"));
	for (size_t i = 0; i < ARRAY_SIZE(crashes); i++)
		sigaction(crashes[i], &action, NULL);
}

static void end_rescue(void)
{
	static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};

	for (size_t i = 0; i < ARRAY_SIZE(crashes); i++)
		signal(crashes[i], SIG_DFL);
}

/* ---- open and close ---- */

/* Names of locales that are not installed still show the terminal's encoding. */
static void choose_locale(void)
{
	if (!setlocale(LC_CTYPE, "")) {
		const char *names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			const char *value = getenv(names[i]);

			if (!value || !value[0])
				continue;
			if (strcasestr(value, "utf-8") || strcasestr(value, "utf8"))
				setlocale(LC_CTYPE, "C.UTF-8");
			break;
		}
	}
	terminal.is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

struct error *terminal_open(bool no_color)
{
	const char *variable = getenv("NO_COLOR");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
		tcgetattr(STDIN_FILENO, &rescue.modes) != 0)
		return error_new(ERROR_UNSUPPORTED, "standard input and output are not a terminal; "
						    "`--once` prints what it would show");
	choose_locale();
	terminal.screen = newterm(NULL, stdout, stdin);
	if (!terminal.screen)
		return error_new(ERROR_UNSUPPORTED, "the terminal \"%s\" is not known (TERM)",
			getenv("TERM") ? getenv("TERM") : "");
	set_term(terminal.screen);
	prepare_rescue();
	/* Users set this if a slow line splits sequences that begin with ESC. */
	if (getenv("ESCDELAY") == NULL)
		set_escdelay(ESCAPE_MS);
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	meta(stdscr, TRUE);
	intrflush(stdscr, FALSE);
	define_key("\033[1;2D", KEY_SLEFT);
	define_key("\033[1;2C", KEY_SRIGHT);
	mouseinterval(0);
	mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	choose_looks(no_color || (variable && variable[0]));
	tui_canvas_init(&terminal.shown);
	return NULL;
}

void terminal_close(void)
{
	if (!terminal.screen)
		return;
	endwin();
	delscreen(terminal.screen);
	terminal.screen = NULL;
	end_rescue();
	tui_canvas_deinit(&terminal.shown);
}

void terminal_size(unsigned *width, unsigned *height)
{
	*width = COLS > 0 ? (unsigned)COLS : 1;
	*height = LINES > 0 ? (unsigned)LINES : 1;
}

bool terminal_is_utf8(void)
{
	return terminal.is_utf8;
}

/* ---- output ---- */

static void put_cell(unsigned y, unsigned x, const struct tui_cell *cell)
{
	wchar_t text[ARRAY_SIZE(cell->code) + 1] = {0};
	attr_t attribute = terminal.attribute[cell->style];
	cchar_t out;

	for (size_t i = 0; i < ARRAY_SIZE(cell->code) && cell->code[i]; i++)
		text[i] = (wchar_t)cell->code[i];
	if (wcwidth(text[0]) != cell->width)
		wcscpy(text, cell->width == 2 ? L"??" : L"?");
	for (size_t i = 1; text[0] != L'?' && i < ARRAY_SIZE(cell->code) && text[i]; i++)
		if (wcwidth(text[i]) != 0)
			text[i] = L'\0';
	if (cell->selected)
		attribute ^= A_REVERSE;
	for (unsigned i = 0; i < (text[0] == L'?' && cell->width == 2 ? 2u : 1u); i++) {
		wchar_t one[ARRAY_SIZE(text)];

		wcscpy(one, text);
		if (text[0] == L'?')
			one[1] = L'\0';
		setcchar(&out, one, attribute & ~A_COLOR, (short)PAIR_NUMBER(attribute), NULL);
		mvadd_wch((int)y, (int)(x + i), &out);
	}
}

static bool is_same_cell(const struct tui_cell *a, const struct tui_cell *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static void show_row(const struct tui_canvas *canvas, unsigned y, bool is_all)
{
	const struct tui_cell *row = &canvas->cell[(size_t)y * canvas->width];
	struct tui_cell *old = &terminal.shown.cell[(size_t)y * canvas->width];

	for (unsigned x = 0; x < canvas->width; x++) {
		if (row[x].width == 0 || (!is_all && is_same_cell(&row[x], &old[x]) &&
						 (row[x].width == 1 || old[x + 1].width == 0)))
			continue;
		put_cell(y, x, &row[x]);
	}
	memcpy(old, row, canvas->width * sizeof(*row));
}

void terminal_show(const struct tui_canvas *canvas)
{
	bool is_all = terminal.must_redraw || canvas->width != terminal.shown.width ||
		      canvas->height != terminal.shown.height;

	if (is_all) {
		erase();
		clearok(stdscr, terminal.must_redraw);
		tui_canvas_clear(&terminal.shown, canvas->width, canvas->height);
	}
	for (unsigned y = 0; y < canvas->height; y++)
		show_row(canvas, y, is_all);
	terminal.must_redraw = false;
	curs_set(canvas->has_cursor ? 1 : 0);
	if (canvas->has_cursor)
		move((int)canvas->cursor_y, (int)canvas->cursor_x);
	refresh();
}

void terminal_leave(void)
{
	endwin();
}

void terminal_redraw(void)
{
	reset_prog_mode();
	terminal.must_redraw = true;
}

/* ---- input ---- */

static uint32_t function_key(wint_t code)
{
	static const struct {
		wint_t code;
		uint32_t key;
	} keys[] = {{KEY_UP, TUI_KEY_UP}, {KEY_DOWN, TUI_KEY_DOWN}, {KEY_LEFT, TUI_KEY_LEFT},
		{KEY_RIGHT, TUI_KEY_RIGHT}, {KEY_SLEFT, TUI_KEY_FAR_LEFT},
		{KEY_SRIGHT, TUI_KEY_FAR_RIGHT}, {KEY_PPAGE, TUI_KEY_PAGE_UP},
		{KEY_NPAGE, TUI_KEY_PAGE_DOWN}, {KEY_HOME, TUI_KEY_HOME}, {KEY_END, TUI_KEY_END},
		{KEY_ENTER, TUI_KEY_ENTER}, {KEY_BACKSPACE, TUI_KEY_BACKSPACE},
		{KEY_DC, TUI_KEY_BACKSPACE}, {KEY_BTAB, TUI_KEY_BACK_TAB}, {KEY_F(1), TUI_KEY_HELP},
		{KEY_F(10), TUI_KEY_QUIT}};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].code == code)
			return keys[i].key;
	return TUI_KEY_NONE;
}

static uint32_t character_key(wint_t code)
{
	switch (code) {
	case '\r':
	case '\n':
		return TUI_KEY_ENTER;
	case 0x7f:
	case '\b':
		return TUI_KEY_BACKSPACE;
	case 0x1b:
		return TUI_KEY_ESCAPE;
	case '\t':
		return TUI_KEY_TAB;
	default:
		return (uint32_t)code;
	}
}

/*
 * ncurses returns one KEY_MOUSE for all mouse events so far, and then the events from last to
 * first.
 */
static void gather_mouse(void)
{
	terminal.mouse_count = 0;
	while (terminal.mouse_count < ARRAY_SIZE(terminal.mouse) &&
		getmouse(&terminal.mouse[terminal.mouse_count]) == OK)
		terminal.mouse_count++;
}

/* The first event that was gathered and not reported yet. */
static bool read_mouse(struct tui_mouse *mouse)
{
	MEVENT event = terminal.mouse[--terminal.mouse_count];
	uint64_t now_ms = clock_monotonic_ns() / 1000000;

	if (event.x < 0 || event.y < 0)
		return false;
	*mouse = (struct tui_mouse){.x = (unsigned)event.x, .y = (unsigned)event.y};
	if (event.bstate & BUTTON4_PRESSED) {
		mouse->click = TUI_WHEEL_UP;
		return true;
	}
	if (event.bstate & BUTTON5_PRESSED) {
		mouse->click = TUI_WHEEL_DOWN;
		return true;
	}
	if (!(event.bstate & BUTTON1_PRESSED))
		return false;
	bool is_double = now_ms - terminal.click_ms < DOUBLE_CLICK_MS &&
			 mouse->y == terminal.click_y && mouse->x == terminal.click_x;

	mouse->click = is_double ? TUI_CLICK_DOUBLE : TUI_CLICK;
	terminal.click_ms = is_double ? 0 : now_ms;
	terminal.click_x = mouse->x;
	terminal.click_y = mouse->y;
	return true;
}

enum terminal_event terminal_read(uint32_t *key, struct tui_mouse *mouse)
{
	wint_t code;

	if (terminal.mouse_count)
		return read_mouse(mouse) ? TERMINAL_MOUSE : TERMINAL_OTHER;
	errno = 0;
	int kind = wget_wch(stdscr, &code);

	if (kind == ERR)
		return TERMINAL_NOTHING;
	if (kind != KEY_CODE_YES) {
		*key = character_key(code);
		if (*key == TUI_CONTROL('l')) {
			terminal.must_redraw = true;
			return TERMINAL_RESIZE;
		}
		return TERMINAL_KEY;
	}
	if (code == KEY_RESIZE)
		return TERMINAL_RESIZE;
	if (code == KEY_MOUSE) {
		gather_mouse();
		return TERMINAL_OTHER;
	}
	*key = function_key(code);
	return TERMINAL_KEY;
}

bool terminal_wait(uint64_t ms)
{
	/*
	 * A signal between the last look at its flag and here does not end the wait: a resize, or
	 * Ctrl-C, is then seen this late.
	 */
	const uint64_t most_ms = 200;
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

	poll(&in, 1, (int)(ms < most_ms ? ms : most_ms));
	return !(in.revents & (POLLHUP | POLLERR | POLLNVAL));
}
