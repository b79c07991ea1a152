//! Builds the program in `quality/conformance/zarrs`, which is a separate workspace.

use std::path::Path;

use zarrox_runner::run::{Outcome, cargo, program};

const DIRECTORY: &str = "target/zarrs";

/// Builds the program with the tools of a Python environment, and returns its path. zarrs uses the library zfp, which is built
/// with CMake, and whose bindings are generated with libclang; both tools are packages of the environment.
pub(crate) fn build(python: &str) -> Outcome<String> {
    let tools = Path::new(python).parent().ok_or("the environment has no directory of programs")?;
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([tools.to_owned()].into_iter().chain(std::env::split_paths(&others)))
        .map_err(|error| error.to_string())?;
    let native = "import clang, pathlib; print(pathlib.Path(clang.__file__).parent / 'native')";
    let libclang = program(python, ["-c", native]).output().ok_or("the environment has no libclang")?;
    let mut build = cargo(["build", "--locked", "--manifest-path", "quality/conformance/zarrs/Cargo.toml"])
        .with(["--target-dir", DIRECTORY])
        .variable("PATH", &path.to_string_lossy())
        .variable("LIBCLANG_PATH", &libclang);
    // The package contains the library without the compiler's own headers.
    if let Some(headers) = program("cc", ["-print-file-name=include"]).output() {
        build = build.variable("BINDGEN_EXTRA_CLANG_ARGS", &format!("-I{headers}"));
    }
    build.run()?;
    Ok(format!("{DIRECTORY}/debug/zarrs-participant{}", std::env::consts::EXE_SUFFIX))
}
