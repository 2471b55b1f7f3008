-- Recursion of every kind that Lua has: plain, through pcall, through gsub's callback, through
-- sort's comparator and through metamethods, so that the interpreter recurses on the C stack.
local units = tonumber(arg[1]) or 20

local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end

local function through_pcall(n)
	if n == 0 then return 0 end
	local _, depth = pcall(through_pcall, n - 1)
	return depth + 1
end

local function through_gsub(n)
	if n == 0 then return "x" end
	return (("ab"):gsub(".", function(c) return c == "a" and through_gsub(n - 1) or c end))
end

local function through_sort(n)
	local list = {}
	for i = 1, 40 do list[i] = (i * 7919) % 101 end
	table.sort(list, function(a, b)
		if n > 0 and a % 50 == 0 then through_sort(n - 1) end
		return a < b
	end)
	return list[1]
end

local nested = setmetatable({}, { __index = function(t, k)
	if k <= 0 then return 0 end
	return t[k - 1] + 1
end })

local function tree(depth)
	if depth == 0 then return {} end
	return { tree(depth - 1), tree(depth - 1) }
end

local function count(t) return t[1] and 1 + count(t[1]) + count(t[2]) or 1 end

local sum = 0
for _ = 1, units do
	sum = sum + fib(21) + through_pcall(100) + #through_gsub(60) + through_sort(1)
	for k = 1, 30 do sum = sum + nested[k * 5] end
	sum = sum + count(tree(12))
end
print(sum)
