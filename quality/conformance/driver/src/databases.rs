//! The part of `cargo xtask conformance` about stores in which zarr-python 2 and Zarrox keep hierarchies alike: directories,
//! databases, and those on servers.

use zarrox_runner::debian::Missing;
use zarrox_runner::python::Environment;
use zarrox_runner::run::{self, Outcome, Program, program};

/// Where the files are.
const DIRECTORY: &str = "target/conformance/databases";

/// The stores in files.
const FILES: [&str; 7] = ["directory", "nested", "temporary", "files", "sqlite", "lmdb", "gdbm"];

/// The stores on servers that have room for one hierarchy, and the variables with their addresses.
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
    // The releases of numcodecs that it runs with end there.
    highest: (3, 13),
    requirements: Some("quality/conformance/requirements/databases.txt"),
};

/// The module for GDBM, which not every Python comes with, and the Debian package that brings it.
const GDBM: (&str, &str) = ("dbm.gnu", "python3-gdbm");

/// Exchanges what is in files.
pub(crate) fn run(ourselves: &Program) -> Outcome {
    let python = python()?;
    run::empty_directory(DIRECTORY)?;
    for kind in FILES {
        let [theirs, ours] = ["theirs", "ours"].map(|who| format!("{DIRECTORY}/{who}.{kind}"));
        exchange(&python, ourselves, kind, [&theirs, &ours])?;
    }
    println!("stores: exchanged with zarr-python 2: {}", FILES.join(", "));
    Ok(())
}

/// Exchanges what is on those of the servers that run, which these variables tell.
///
/// # Errors
/// When the two do not read the same.
pub fn run_on_servers(ourselves: &Program, variables: &[(String, String)]) -> Outcome {
    let address = |name: &str| variables.iter().find(|(variable, _)| variable == name).map(|(_, url)| url);
    // The writer replaces the hierarchy that is there.
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

/// Returns the package that is missing where no Python has the module for GDBM.
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

/// A hierarchy goes both ways; each changes what the other wrote, and the writer reads again.
fn exchange(python: &str, ourselves: &Program, kind: &str, [theirs, ours]: [&str; 2]) -> Outcome {
    let act = |who: &Program, action: &str, place: &str| who.clone().with([action, kind, place]).run();
    let other = program(python, ["-B", "quality/conformance/databases.py"]);
    let zarrox = ourselves.clone().with(["databases"]);
    act(&other, "write", theirs)?;
    act(&zarrox, "change", theirs)?;
    act(&other, "changed", theirs)?;
    act(&zarrox, "write", ours)?;
    act(&other, "change", ours)?;
    act(&zarrox, "changed", ours)
}
