//! Building with AddressSanitizer, Rust and C.

use zarrox_runner::run::{Outcome, Program, program};

/// Cargo commands that build with AddressSanitizer.
#[derive(Debug)]
pub(crate) struct Sanitizer {
    /// The target triple. It is always set, so that build scripts are built without the sanitizer.
    pub(crate) target: String,
    /// True for AddressSanitizer. Otherwise programs have only the caller's flags, and run several times faster.
    address: bool,
}

/// The sanitizer's options for the program: GCC does not mark constants that headers define in several files, which is not an
/// error. Failed allocations are left to the code.
const OPTIONS: &str = "detect_odr_violation=0:allocator_may_return_null=1";

/// The options of the C compiler. GCC 12 mistakes tables that it has turned into constants for variables whose scope ends: zstd
/// has such a table.
const C_FLAGS: &str = "-fsanitize=address -fno-sanitize-address-use-after-scope -fno-omit-frame-pointer";

impl Sanitizer {
    /// Returns the sanitizer for this machine.
    pub(crate) fn for_this_machine() -> Outcome<Self> {
        let version = program("rustc", ["-vV"]).output().ok_or("rustc cannot be run")?;
        let target = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
        if cfg!(all(target_os = "linux", target_env = "gnu")) {
            return Ok(Self { target: target.to_owned(), address: true });
        }
        Err(format!("AddressSanitizer is set up for Linux with glibc, not for {target}"))
    }

    /// Returns builds without AddressSanitizer.
    pub(crate) fn without_address(self) -> Self {
        Self { address: false, ..self }
    }

    /// Returns the command with the sanitizer in all Rust code, and in all C code if the compiler supports it.
    pub(crate) fn build(&self, cargo: Program, rust_flags: &str, c_flags: &str) -> Program {
        let (rust_address, c_address) =
            if self.address { ("-Zsanitizer=address", C_FLAGS) } else { ("", "") };
        let rust_flags = format!("{rust_address} {rust_flags}");
        let c_flags = format!("{c_address} {c_flags}");
        self.run(cargo.with(["--target", &self.target]))
            // The stable compiler has the sanitizer, too, but does not guarantee its stability.
            .variable("RUSTC_BOOTSTRAP", "1")
            .variable("RUSTFLAGS", rust_flags.trim())
            .variable("CFLAGS", c_flags.trim())
    }

    /// Returns a program of this build, with the options of the sanitizer.
    pub(crate) fn run(&self, program: Program) -> Program {
        program.variable("ASAN_OPTIONS", OPTIONS)
    }
}
