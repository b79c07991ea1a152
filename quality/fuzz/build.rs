//! Compiles the counter of basic blocks that run in C code.

fn main() {
    println!("cargo::rerun-if-changed=src/coverage.c");
    // libFuzzer has a function with that name that does nothing.
    println!("cargo::rustc-link-arg-bins=-Wl,--wrap=__sanitizer_cov_trace_pc");
    cc::Build::new().file("src/coverage.c").compile("coverage");
}
