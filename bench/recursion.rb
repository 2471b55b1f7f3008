# A recursion through two methods and a block, over and over until its CPU time is used up: stacks of
# some hundred of Ruby's own C frames, which are gone at each return.
def down(depth, sum)
	return sum if depth == 0
	[depth].each { |step| sum = across(step - 1, sum + step) }
	sum
end

def across(depth, sum)
	down(depth, sum * 31 % 1_000_003)
end

limit = Float(ARGV[0] || 4)
sum = 0
sum += down(200, sum % 7) while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < limit
puts sum % 10
