// go_stacks.go MILLISECONDS: for so much CPU time, call C, C that calls Go, the garbage collector, and runtime.Callers; so most
// samples are on a thread's own stack, and not on the goroutine's.
package main

/*
#include <stdint.h>
extern void goBack(int);
static volatile uint64_t c_sink;
__attribute__((noinline)) static void c_spin(long n) { uint64_t x = c_sink; for (long i = 0; i < n; i++) x = x * 3 + (uint64_t)i; c_sink = x; }
__attribute__((noinline)) static void c_work(long n) { c_spin(n); __asm__ volatile(""); }
__attribute__((noinline)) static void c_back(int n) { goBack(n); __asm__ volatile(""); }
*/
import "C"

import (
	"os"
	"runtime"
	"strconv"
	"syscall"
)

type node struct{ links [8]*node }

var keep []*node
var sink uint64

//export goBack
func goBack(n C.int) { inBack(int(n)) }

//go:noinline
func inBack(n int) {
	x := sink
	for i := 0; i < n; i++ {
		x = x*3 + uint64(i)
	}
	sink = x
}

//go:noinline
func inC() { C.c_work(2000000) }

//go:noinline
func throughC() { C.c_back(2000000) }

//go:noinline
func inCollector() {
	keep = make([]*node, 20000)
	for i := range keep {
		keep[i] = &node{}
	}
	runtime.GC()
}

//go:noinline
func inCallers(depth int, pcs []uintptr) {
	if depth > 0 {
		inCallers(depth-1, pcs)
	} else {
		for i := 0; i < 300; i++ {
			runtime.Callers(0, pcs)
		}
	}
	sink++
}

func cpuMilliseconds() int64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano()/1000000 + usage.Stime.Nano()/1000000
}

func main() {
	wanted, _ := strconv.ParseInt(os.Args[1], 10, 64)
	pcs := make([]uintptr, 64)
	done := make(chan bool)
	for cpuMilliseconds() < wanted {
		go func() {
			inC()
			done <- true
		}()
		<-done
		throughC()
		inCollector()
		inCallers(6, pcs)
	}
}
