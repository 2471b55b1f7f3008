"""What lints print: TAP."""


def report(found):
	"""Prints a point for each (what, problems), problems being lines, with its problems below; returns the exit status."""
	print(f"1..{len(found)}")
	for number, (what, problems) in enumerate(found, 1):
		print(f"{'not ok' if problems else 'ok'} {number} - {what}")
		for problem in problems:
			print(f"# {problem}")
	return 1 if any(problems for _, problems in found) else 0
