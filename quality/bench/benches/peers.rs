//! A contestant of the benchmark against peers, named by the first argument.

#![expect(clippy::print_stderr, reason = "a benchmark prints why it does nothing")]

fn main() {
    let contestant = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    // `cargo bench` runs every target without an argument.
    if !zarrox_bench::serve(&contestant.unwrap_or_default()) {
        eprintln!("unknown contestant; expected one of zarrox, limit and fill");
    }
}
