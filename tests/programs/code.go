// code.go MILLISECONDS: for so much CPU time, work in the main goroutine, in others, deep down in one whose stack must grow, in
// the allocator and in system calls.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
)

//go:noinline
func spin(rounds uint64, x uint64) uint64 {
	for i := uint64(0); i < rounds; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

//go:noinline
func inMain(rounds uint64, x uint64) uint64 { return spin(rounds, x) + 1 }

//go:noinline
func inRoutine(rounds uint64, x uint64) uint64 { return spin(rounds, x) + 1 }

//go:noinline
func inDeep(level int, rounds uint64, x uint64) uint64 {
	var room [512]byte
	room[level] = byte(x)
	if level == 0 {
		return spin(rounds, x) + uint64(room[3])
	}
	return inDeep(level-1, rounds, x) + uint64(room[level])
}

type node struct{ left, right *node }

//go:noinline
func build(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{build(depth - 1), build(depth - 1)}
}

// CPU time that the process has used, in ns.
func used() int64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func main() {
	milliseconds, _ := strconv.Atoi(os.Args[1])
	var wait sync.WaitGroup
	x := uint64(1)
	for used() < int64(milliseconds)*1000000 {
		x = inMain(1000000, x)
		wait.Add(2)
		go func() { inRoutine(500000, 3); wait.Done() }()
		go func() { inDeep(100, 500000, 3); wait.Done() }()
		wait.Wait()
		build(12)
		for i := 0; i < 300; i++ {
			syscall.Getppid()
		}
	}
	fmt.Println(x != 0)
}
