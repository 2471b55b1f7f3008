"""A person's work in the page, in Firefox: the cases of page.py that do it by clicks and keys."""

import harness
import page
from page import (test_a_persons_work, test_a_slow_tick_and_why, test_answers_are_the_command_lines, test_the_hottest_line_is_in_sight, 
	test_two_builds_are_compared)

page.BROWSER[0] = (("firefox-esr", "firefox"), "page_firefox.mjs", ("puppeteer-core", "24.43.1"))

if __name__ == "__main__":
	harness.main()
