// For the single-step oracle: Rust with panics that unwind, generics, closures, collections, a thread
// local and formatting, in few instructions. Exits with 0 if its results are right.
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::panic;

thread_local!(static DROPS: Cell<u32> = const { Cell::new(0) });

struct Guard;
impl Drop for Guard {
    #[inline(never)]
    fn drop(&mut self) {
        DROPS.with(|d| d.set(d.get() + 1));
    }
}

#[inline(never)]
fn throw(level: u32) -> u32 {
    let _guard = Guard;
    if level == 0 {
        panic::panic_any(level + 7);
    }
    throw(level - 1) + 1
}

#[inline(never)]
fn apply<F: Fn(u64) -> u64>(f: F, n: u64) -> u64 {
    (0..n).map(|x| f(x)).sum()
}

trait Shape {
    fn area(&self) -> u64;
}
struct Square(u64);
struct Circle(u64);
impl Shape for Square {
    #[inline(never)]
    fn area(&self) -> u64 {
        self.0 * self.0
    }
}
impl Shape for Circle {
    #[inline(never)]
    fn area(&self) -> u64 {
        3 * self.0 * self.0
    }
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let thrown = panic::catch_unwind(|| throw(4)).unwrap_err();
    assert_eq!(*thrown.downcast::<u32>().unwrap(), 7);
    assert_eq!(DROPS.with(|d| d.get()), 5);
    let factor = std::env::args().count() as u64;
    assert_eq!(apply(|x| x * factor, 10), 45);
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(3)), Box::new(Circle(2))];
    assert_eq!(shapes.iter().map(|s| s.area()).sum::<u64>(), 21);
    let mut words: Vec<String> = (0..30).map(|i| format!("{}", i * 17 % 30)).collect();
    words.sort();
    let mut counts = HashMap::new();
    let mut tree = BTreeMap::new();
    for word in &words {
        *counts.entry(word.len()).or_insert(0) += 1;
        tree.insert(word.clone(), word.len());
    }
    assert_eq!(counts[&2], 20);
    assert_eq!(tree.len(), 30);
}
