"""--max-overhead: the rate goes down, the weights stay true."""

import harness
import recording


@harness.takes_long
def test_a_tight_limit_lowers_the_rate_and_keeps_the_weights(folder):
	recording.needs_sampling()
	shares = recording.program(folder, "shares")
	# The rate goes down after two seconds over the limit.
	r = recording.record(folder, shares, harness.work(4800, least=4000), options=["--max-overhead", "0.01%"])
	assert "of what was asked for" in r.done.err, r.done
	r.check_captured()
	cpu_ns = r.stats["cpu_ns"]
	weight = r.json("--metric", "cpu-time")["total"]
	assert abs(weight - cpu_ns) <= 0.03 * cpu_ns, (weight, cpu_ns)
	# Fewer samples than at the rate asked for.
	assert r.stats["counted"] < 0.9 * cpu_ns / recording.INTERVAL_NS, r.stats


@harness.takes_long
def test_a_generous_limit_changes_nothing(folder):
	recording.needs_sampling()
	shares = recording.program(folder, "shares")
	r = recording.record(folder, shares, harness.work(1440), options=["--max-overhead", "90%"])
	assert "the rate never had to change" in r.done.err, r.done
	r.check_captured()


def test_nonsense_is_refused():
	for value in ("0", "101%", "-1", "x", "1 %"):
		done = harness.check(harness.sonde("record", "--max-overhead", value, "true"), 125)
		assert "is not a share" in done.err, done


harness.main()
