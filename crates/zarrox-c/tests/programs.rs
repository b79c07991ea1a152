//! The examples in C, Fortran and R: compiled, run, and compared.

use std::ffi::OsStr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use zarrox::codecs::Zstd;
use zarrox::prelude::*;
use zarrox_testkit::needs;

/// A directory as `make install` would create it, and space for programs and data.
struct Prefix(TempDir);

impl Prefix {
    fn new() -> Self {
        let prefix = Self(tempfile::tempdir().unwrap());
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        // Test programs lie beside the libraries that they were built with.
        let built = std::env::current_exe().unwrap();
        let built = built.parent().unwrap();
        std::fs::create_dir_all(prefix.path("lib/pkgconfig")).unwrap();
        symlink(own.join("include"), prefix.path("include")).unwrap();
        symlink(own.join("zarrox.pc"), prefix.path("lib/pkgconfig/zarrox.pc")).unwrap();
        symlink(own.join("examples"), prefix.path("examples")).unwrap();
        for library in ["libzarrox_c.a", "libzarrox_c.so", "libzarrox_c.dylib"] {
            if built.join(library).exists() {
                symlink(built.join(library), prefix.path("lib").join(library)).unwrap();
            }
        }
        prefix
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs a program in the directory, and returns its output.
    fn run<S: AsRef<OsStr>>(
        &self,
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = S>,
    ) -> String {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.0.path()).env("LD_LIBRARY_PATH", self.path("lib"));
        command.env("DYLD_LIBRARY_PATH", self.path("lib")).env("PKG_CONFIG_PATH", self.path("lib/pkgconfig"));
        let output = command.output().unwrap();
        let (out, errors) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{command:?}: {}\n{out}{errors}", output.status);
        out
    }

    /// Compiles an example in C, and returns its program.
    fn c(&self, name: &str, libraries: &[&str]) -> PathBuf {
        let source = format!("examples/c/{name}.c");
        let line = ["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-Iinclude", &source, "-o", name];
        self.run("cc", line.iter().chain(libraries));
        self.path(name)
    }
}

/// Returns true if a program exists. Otherwise reports that the test does not run.
fn has(program: &str, remedy: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if found {
        needs::met(program);
    } else {
        needs::missing(program, remedy);
    }
    found
}

fn has_c() -> bool {
    has("cc", "as root, `apt-get install gcc` on Debian")
}

const SHARED: [&str; 2] = ["-Llib", "-lzarrox_c"];

/// Compiles an example in C, runs it on a path that does not exist, and returns its output.
fn output_of(name: &str, libraries: &[&str]) -> String {
    let prefix = Prefix::new();
    let program = prefix.c(name, &[SHARED.as_slice(), libraries].concat());
    prefix.run(program, ["example.zarr"])
}

#[test]
fn the_quickstart_runs() {
    if has_c() {
        let lines = "10 12 14\n20 22 24\nfloat32\n{\"units\":\"K\",\"standard_name\":\"air_temperature\"}\nt2m 1\nnot found\n";
        assert_eq!(output_of("quickstart", &[]).replace(": ", ":").replace(", ", ","), lines);
    }
}

#[test]
fn strings_are_written_and_read() {
    if has_c() {
        assert_eq!(output_of("strings", &[]), "Zürich Genf\n".repeat(3));
    }
}

#[test]
fn threads_share_a_node_and_a_callback_cancels() {
    if has_c() {
        assert_eq!(output_of("threads", &["-lpthread"]), "8000 elements\n");
    }
}

#[test]
fn results_are_tensors_and_arrow_arrays() {
    if has_c() {
        assert_eq!(output_of("interchange", &[]), "DLPack and Arrow\n");
    }
}

#[test]
fn pkg_config_has_the_flags_for_both_libraries() {
    if !has_c() || !has("pkg-config", "as root, `apt-get install pkg-config` on Debian") {
        return;
    }
    let prefix = Prefix::new();
    let flags = prefix.run("pkg-config", ["--cflags", "--libs", "zarrox"]);
    prefix.c("strings", &flags.split_whitespace().collect::<Vec<_>>());
    assert_eq!(prefix.run(prefix.path("strings"), ["a.zarr"]).lines().count(), 3);
    let flags = prefix.run("pkg-config", ["--static", "--cflags", "--libs", "zarrox"]);
    std::fs::remove_file(prefix.path("lib/libzarrox_c.so")).unwrap();
    prefix.c("strings", &flags.split_whitespace().collect::<Vec<_>>());
    assert_eq!(prefix.run(prefix.path("strings"), ["b.zarr"]).lines().count(), 3);
}

/// Creates an image in a directory, and returns its text as the programs print it.
fn image(prefix: &Prefix) -> String {
    let pixels = Array2::from_shape_fn((5, 7), |(i, j)| u16::try_from(1000 * i + j * j).unwrap());
    let array = zarrox::create_array(prefix.path("image.zarr")).shape([5, 7]).data_type(DataType::UInt16);
    array.chunks([2, 3]).compressor(Zstd::level(3)).create().unwrap().write(.., &pixels).unwrap();
    let line = |row: &[u16]| row.iter().map(u16::to_string).collect::<Vec<_>>().join(" ") + "\n";
    pixels.as_slice().unwrap().chunks(7).map(line).collect()
}

#[test]
fn c_reads_an_image() {
    if has_c() {
        let prefix = Prefix::new();
        let expected = image(&prefix);
        assert_eq!(prefix.run(prefix.c("image", &SHARED), ["image.zarr"]), expected);
    }
}

#[test]
fn fortran_reads_and_writes_an_image() {
    if !has("gfortran", "as root, `apt-get install gfortran` on Debian") {
        return;
    }
    let prefix = Prefix::new();
    let expected = image(&prefix);
    let sources = ["examples/fortran/zarrox.f90", "examples/fortran/image.f90"];
    prefix.run(
        "gfortran",
        ["-std=f2018", "-Wall", "-Werror", "-o", "fortran"].iter().chain(&sources).chain(&SHARED),
    );
    assert_eq!(prefix.run(prefix.path("fortran"), ["image.zarr", "copy.zarr"]), expected);
    let copy: Array2<u16> = zarrox::open_array(prefix.path("copy.zarr")).unwrap().read(..).unwrap();
    let original: Array2<u16> = zarrox::open_array(prefix.path("image.zarr")).unwrap().read(..).unwrap();
    assert_eq!(copy, original);
}

#[test]
fn r_reads_an_image() {
    if !has("Rscript", "as root, `apt-get install r-base-core` on Debian") || !has_c() {
        return;
    }
    let prefix = Prefix::new();
    let expected = image(&prefix);
    std::fs::copy(prefix.path("examples/r/zarrox.c"), prefix.path("zarrox.c")).unwrap();
    let flags = ["PKG_CPPFLAGS=-Iinclude", "PKG_LIBS=-Llib -lzarrox_c", "R", "CMD", "SHLIB", "zarrox.c"];
    prefix.run("env", flags);
    assert_eq!(prefix.run("Rscript", ["examples/r/image.R", "image.zarr"]), expected);
}

#[test]
fn the_command_reads_the_same_image() {
    let prefix = Prefix::new();
    let expected = image(&prefix);
    let command = std::env::current_exe().unwrap();
    let command = command.ancestors().nth(2).unwrap().join("zarrox");
    if !command.exists() {
        return needs::missing("the command", "cargo build -p zarrox-cli");
    }
    needs::met("the command");
    let text = prefix.run(command, ["dump", "--csv", "image.zarr"]);
    assert_eq!(text.replace(',', " "), expected);
}
