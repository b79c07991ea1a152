//! `cargo xtask test`.

use crate::record::{self, Record};
use crate::{page, python};
use zarrox_conformance::pipelines::{short, xarray, zarr_python};
use zarrox_conformance::{self as conformance, databases};
use zarrox_runner::debian::{self, Missing};
use zarrox_runner::node;
use zarrox_runner::run::{Outcome, cargo};
use zarrox_servers as servers;

pub(crate) const HELP: &str = "\
Runs unit tests, integration tests, the examples in the documentation, and the Python package's tests; with --all all tests

    test                  the tests of our own code
    test --all            these, a short part of other packages' tests, the page in a browser, and exchanges with other implementations
    test --no-install     only tests that do not need missing system packages; also with --all
    test [ARGUMENT …]     runs only `cargo test` with these arguments

All features are enabled, including those that are disabled by default. System packages that will be installed are listed
first, and skipped parts at the end, with the number of tests that lacked a server, a program or a privilege.

    test --python [ARGUMENT …]

runs the tests of the Python package alone: with zarr-python 3 and other supported packages, and with zarr-python 2. Arguments are passed to pytest.

    test --pipelines

runs a short part of zarr-python's and of xarray's own tests under the package's codec pipeline, and of xarray's with the package's engine,
as `test --all` does. The next three run all of them.

    test --zarr-python [VERSION …]

runs zarr-python's own tests, from its source distribution, under its own codec pipeline and under the package's: all of the newest version,
and those of arrays, codecs, groups and indexing of older ones. A test that passes under its own must pass under ours, except the tests in
quality/conformance/zarr_python/excused.txt; an excused test that passes is an error. The outputs are in target/zarr-python.

    test --xarray [ARGUMENT …]

runs xarray's own tests of Zarr, which are in its package, in the same way. Arguments are passed to pytest.

    test --xarray-engine [ARGUMENT …]

runs the same tests with the package's engine instead of xarray's own, and its `to_zarr` instead of xarray's methods. The tests
that may fail are in quality/conformance/xarray/excused.txt. The outputs are in target/zarr-python as well: those in
xarray-zarrox-engine-failures.txt contains the reasons of failures.

    test --stores [SERVER …] [-- ARGUMENT …]

runs the tests of stores on servers, with all servers or the named ones: redis, mongodb, s3, azure, http, gcs, webdav, ftp,
hdfs. A server that no test has used is an error. Missing packages are installed: those of Python and npm below target, those of Debian by apt-get as root. Arguments are passed to the tests'
programs: names of tests, for example; without any, hierarchies on servers are exchanged with zarr-python 2,
and the Python package is tested on them, too. Each server's log is in target/servers/NAME.";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    match arguments.split_first() {
        Some((first, rest)) if first == "--stores" => return stores(rest),
        Some((first, rest)) if first == "--python" => return python(rest),
        Some((first, [])) if first == "--pipelines" => return short::run(),
        Some((first, rest)) if first == "--zarr-python" => return zarr_python::run(rest),
        Some((first, rest)) if first == "--xarray" => return xarray::run(rest),
        Some((first, rest)) if first == "--xarray-engine" => return xarray::run_with_engine(rest),
        _ => {}
    }
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let (all, may_install) = (has("--all"), !has("--no-install"));
    let rest = arguments.iter().filter(|argument| !["--all", "--no-install"].contains(&argument.as_str()));
    let rest: Vec<&str> = rest.map(String::as_str).collect();
    let record = record::begin("own")?;
    if !rest.is_empty() {
        rust(&rest, &record)?;
        print_skipped(Record::read(&record)?.summary().as_slice());
        return Ok(());
    }
    if !may_install {
        debian::forbid();
    }
    let (chosen, others): (Vec<&Part>, Vec<&Part>) = PARTS.iter().partition(|part| all || part.is_ours);
    let mut left_out: Vec<String> =
        others.iter().map(|part| format!("{}: only with --all", part.name)).collect();
    let missing: Vec<Missing> = chosen.iter().flat_map(|part| (part.missing)()).collect();
    announce(&missing, may_install);
    for part in chosen {
        let missing = (part.missing)();
        if may_install || missing.is_empty() {
            (part.run)(&record)?;
        } else {
            left_out.push(format!("{}: without {}", part.name, names(&missing)));
        }
    }
    left_out.push("stores on servers: only with --stores".to_owned());
    left_out.extend(Record::read(&record)?.summary());
    print_skipped(&left_out);
    Ok(())
}

/// Prints the skipped parts.
fn print_skipped(left_out: &[String]) {
    if !left_out.is_empty() {
        println!("\nleft out:\n  {}", left_out.join("\n  "));
    }
}

/// The variable with the path of a record.
type Recorded = (String, String);

/// A part of the tests.
struct Part {
    name: &'static str,
    /// True for the tests of our own code.
    is_ours: bool,
    /// The missing system packages that it requires.
    missing: fn() -> Vec<Missing>,
    run: fn(&Recorded) -> Outcome,
}

const PARTS: [Part; 5] = [
    Part { name: "Rust", is_ours: true, missing: Vec::new, run: |record| rust(&[], record) },
    Part {
        name: "the Python package",
        is_ours: true,
        missing: Vec::new,
        run: |record| python::test(&[], std::slice::from_ref(record)),
    },
    Part {
        name: "zarr-python's and xarray's own tests",
        is_ours: false,
        missing: Vec::new,
        run: |_| short::run(),
    },
    Part { name: "the page in a browser", is_ours: false, missing: node::missing, run: |_| page::test() },
    Part {
        name: "exchanges with other implementations",
        is_ours: false,
        missing: conformance::missing,
        run: |_| conformance::run(&[]),
    },
];

/// Runs the tests of the Python package, with arguments for pytest.
fn python(arguments: &[String]) -> Outcome {
    let record = record::begin("python")?;
    python::test(arguments, std::slice::from_ref(&record))?;
    print_skipped(Record::read(&record)?.summary().as_slice());
    Ok(())
}

/// Runs the tests of all crates.
fn rust(arguments: &[&str], record: &Recorded) -> Outcome {
    let tests = cargo(["test", "--workspace", "--all-features"]).with(arguments.iter().copied());
    let tests = tests.variables(std::slice::from_ref(record));
    let missing: Vec<&str> = strace().iter().map(|missing| missing.package).collect();
    let is_traced = debian::install(&missing);
    match is_traced {
        // The test that traces flushes requires strace.
        Ok(()) => tests.variable("ZARROX_TEST_STRACE", "1").run(),
        Err(_) if debian::is_forbidden() => tests.run(),
        Err(error) => Err(error),
    }
}

/// Returns the package of strace, if it is missing.
fn strace() -> Vec<Missing> {
    let why = "tests of what is flushed to the disk";
    let missing = cfg!(target_os = "linux").then(|| debian::missing("strace", "strace", why));
    missing.flatten().into_iter().collect()
}

/// Prints the missing system packages, and whether they are installed.
fn announce(missing: &[Missing], may_install: bool) {
    let mut all = [strace(), missing.to_vec()].concat();
    all.sort_by_key(|missing| missing.package);
    all.dedup();
    if all.is_empty() {
        return;
    }
    let done = if may_install { "will be installed by apt-get" } else { "are missing" };
    println!("System packages that {done}:");
    all.iter().for_each(|missing| println!("  {:<14} for {}", missing.package, missing.why));
    if may_install {
        println!("`--no-install` runs only tests that do not need them.\n");
    }
}

fn names(missing: &[Missing]) -> String {
    missing.iter().map(|missing| missing.package).collect::<Vec<_>>().join(", ")
}

fn stores(arguments: &[String]) -> Outcome {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let end = arguments.iter().position(|argument| *argument == "--").unwrap_or(arguments.len());
    let (names, rest) = arguments.split_at(end);
    // Built with all crates and features, so that the build is shared with the other tests.
    let tests = cargo(["test", "--workspace", "--all-features", "--test", "servers"]);
    // Servers need not wait for the compiler.
    tests.clone().with(["--no-run"]).run()?;
    servers::with(names, |variables| {
        let record = record::begin("stores")?;
        let tests = tests.variables(variables).variables(std::slice::from_ref(&record));
        tests.with(rest.iter().copied()).run()?;
        if !rest.is_empty() {
            return Ok(());
        }
        Record::read(&record)?.require(&servers::chosen_names(names)?)?;
        databases::run_on_servers(&conformance::built()?, variables)?;
        python::test_on_servers(variables)
    })
}
