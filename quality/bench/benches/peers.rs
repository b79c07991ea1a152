//! A contestant of the benchmark against peers, named by the first argument.

#![expect(clippy::print_stderr, reason = "a benchmark says why it does nothing")]

fn main() {
    let contestant = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    // `cargo bench` runs every target without an argument.
    if !zarrox_bench::serve(&contestant.unwrap_or_default()) {
        eprintln!("the contestants are zarrox, limit and fill");
    }
}
