//! The part of `cargo xtask conformance` about stores with the same layout in zarr-python 2 and Zarrox: directories, databases,
//! and stores on servers.

use zarrox_runner::debian::Missing;
use zarrox_runner::python::Environment;
use zarrox_runner::run::{self, Outcome, Program, program};

/// The directory of the files.
const DIRECTORY: &str = "target/conformance/databases";

/// The stores in files.
const FILES: [&str; 7] = ["directory", "nested", "temporary", "files", "sqlite", "lmdb", "gdbm"];

/// The stores on servers with space for one hierarchy, and the variables with their addresses.
const ONE_HIERARCHY: [(&str, &str); 2] = [("redis", "ZARROX_TEST_REDIS"), ("mongodb", "ZARROX_TEST_MONGODB")];

/// The stores on servers on which hierarchies have names.
const NAMED_HIERARCHIES: [(&str, &str); 4] = [
    ("azure", "ZARROX_TEST_AZURE"),
    ("s3", "ZARROX_TEST_S3"),
    ("gcs", "ZARROX_TEST_GCS"),
    ("webdav", "ZARROX_TEST_WEBDAV"),
];

const ENVIRONMENT: Environment = Environment {
    name: "databases",
    lowest: (3, 11),
    // The last release of numcodecs that zarr-python 2 supports runs on this version.
    highest: (3, 13),
    requirements: Some("quality/conformance/requirements/databases.txt"),
};

/// The module for GDBM, which some Pythons lack, and its Debian package.
const GDBM: (&str, &str) = ("dbm.gnu", "python3-gdbm");

/// Exchanges hierarchies in files.
pub(crate) fn run(ourselves: &Program) -> Outcome {
    let python = python()?;
    run::empty_directory(DIRECTORY)?;
    for kind in FILES {
        let [theirs, ours] = ["theirs", "ours"].map(|side| format!("{DIRECTORY}/{side}.{kind}"));
        exchange(&python, ourselves, kind, [&theirs, &ours])?;
    }
    println!("stores: exchanged with zarr-python 2: {}", FILES.join(", "));
    Ok(())
}

/// Exchanges hierarchies on the running servers, whose addresses are in these variables.
///
/// # Errors
/// When both sides read different data.
pub fn run_on_servers(ourselves: &Program, variables: &[(String, String)]) -> Outcome {
    let address = |name: &str| variables.iter().find(|(variable, _)| variable == name).map(|(_, url)| url);
    // The writer replaces an existing hierarchy.
    let same = ONE_HIERARCHY.map(|store| (store, ["", ""]));
    let apart = NAMED_HIERARCHIES.map(|store| (store, ["#theirs", "#ours"]));
    for ((kind, variable), names) in same.into_iter().chain(apart) {
        let Some(url) = address(variable) else { continue };
        let [theirs, ours] = names.map(|name| format!("{url}{name}"));
        exchange(&python()?, ourselves, kind, [&theirs, &ours])?;
        println!("stores: exchanged with zarr-python 2: {kind}");
    }
    Ok(())
}

/// Returns the missing package if no Python has the module for GDBM.
pub(crate) fn missing() -> Option<Missing> {
    let (module, package) = GDBM;
    ENVIRONMENT
        .lacks(module)
        .then_some(Missing { package, why: "the exchange of GDBM's files with zarr-python 2" })
}

fn python() -> Outcome<String> {
    let (module, package) = GDBM;
    ENVIRONMENT.python_with(module, package)
}

/// Exchanges a hierarchy in both directions; each side changes the other's hierarchy, and its writer reads it again.
fn exchange(python: &str, ourselves: &Program, kind: &str, [theirs, ours]: [&str; 2]) -> Outcome {
    let act = |side: &Program, action: &str, place: &str| side.clone().with([action, kind, place]).run();
    let other = program(python, ["-B", "quality/conformance/databases.py"]);
    let zarrox = ourselves.clone().with(["databases"]);
    act(&other, "write", theirs)?;
    act(&zarrox, "change", theirs)?;
    act(&other, "changed", theirs)?;
    act(&zarrox, "write", ours)?;
    act(&other, "change", ours)?;
    act(&zarrox, "changed", ours)
}
