// code.rs MILLISECONDS: for so much CPU time, work in main, in a thread, in a method of a trait with a type parameter, and in
// destructors while panics unwind.
use std::panic;
use std::thread;

#[inline(never)]
fn spin(rounds: u64, mut x: u64) -> u64 {
    for _ in 0..rounds {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        std::hint::black_box(&x);
    }
    x
}

#[inline(never)]
fn in_main(rounds: u64, x: u64) -> u64 {
    spin(rounds, x) + 1
}

#[inline(never)]
fn in_thread(rounds: u64, x: u64) -> u64 {
    spin(rounds, x) + 1
}

struct Guard(u64);
impl Drop for Guard {
    #[inline(never)]
    fn drop(&mut self) {
        self.0 = spin(20000, self.0 | 1) + 1;
        std::hint::black_box(&self.0);
    }
}

#[inline(never)]
fn throw(level: u32) -> u32 {
    let guard = Guard(level as u64);
    let deeper = if level == 0 { panic::panic_any(7u32) } else { throw(level - 1) };
    std::hint::black_box(&guard);
    deeper + 1
}

trait Shape {
    fn area<T: Into<u64>>(&self, x: T) -> u64;
}
struct Square;
impl Shape for Square {
    #[inline(never)]
    fn area<T: Into<u64>>(&self, x: T) -> u64 {
        spin(x.into(), 5) + 1
    }
}

extern "C" {
    // C's own: CPU time of the process in microseconds.
    fn clock() -> i64;
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let milliseconds: i64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let mut x = 1;
    while unsafe { clock() } < milliseconds * 1000 {
        x = in_main(400000, x);
        let worker = thread::Builder::new().name("worker".into());
        x ^= worker.spawn(|| in_thread(400000, 3)).unwrap().join().unwrap();
        let _ = panic::catch_unwind(|| throw(19));
        x ^= Square.area(400000u32);
    }
    println!("{}", x != 0);
}
