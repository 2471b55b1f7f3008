// Recursion of the kinds that JavaScript has: plain, through callbacks of sort, map and replace, and
// through getters, so that the interpreter recurses on the C stack, up to 1,000 calls deep.
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

function sumTo(n) { return n === 0 ? 0 : n + sumTo(n - 1); }

function throughMap(n) { return n === 0 ? 1 : [1, 2].map((x) => x === 1 ? throughMap(n - 1) : x)[0]; }

function throughReplace(n) { return n === 0 ? "x" : "ab".replace(/[a]/, () => throughReplace(n - 1)); }

function throughSort(n) {
	const list = Array.from({ length: 40 }, (_, i) => (i * 7919) % 101);
	list.sort((a, b) => { if (n > 0 && a % 50 === 0) throughSort(n - 1); return a - b; });
	return list[0];
}

const nested = { depth: 0, get next() { return this.depth <= 0 ? 0 : (this.depth--, this.next + 1); } };

function tree(depth) { return depth === 0 ? {} : { left: tree(depth - 1), right: tree(depth - 1) }; }

function count(node) { return node.left ? 1 + count(node.left) + count(node.right) : 1; }

let sum = 0;
for (let i = 0; i < units; i++) {
	sum += fib(21) + throughMap(100) + throughReplace(100).length + throughSort(2) + count(tree(12));
	for (let k = 1; k <= 40; k++) {
		nested.depth = 5 * k;
		sum += nested.next + sumTo(1000);
	}
}
