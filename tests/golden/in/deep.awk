# Folded stacks of a recursion `depth` deep (-v depth=N).
BEGIN {
	stack = "main"
	for (i = 0; i < depth; i++) {
		stack = stack ";fib"
		print stack " 1"
		print stack ";add 2"
	}
}
