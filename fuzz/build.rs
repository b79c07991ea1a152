//! Compiles what counts the blocks that run in C code.

fn main() {
    println!("cargo::rerun-if-changed=src/coverage.c");
    cc::Build::new().file("src/coverage.c").compile("coverage");
}
