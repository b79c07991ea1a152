//! The part of `cargo xtask conformance` about databases, where zarr-python 2 and Zarrox keep hierarchies alike.

use crate::python::Environment;
use crate::run::{self, Outcome, Program, program};
use crate::servers::Variables;

/// Where the files are.
const DIRECTORY: &str = "target/conformance/databases";

/// The databases in files. Python comes with GDBM, but not everywhere.
const FILES: [&str; 2] = ["sqlite", "lmdb"];
const GDBM: &str = "gdbm";

/// The databases on servers, and the variables with their addresses.
const SERVERS: [(&str, &str); 2] = [("redis", "ZARROX_TEST_REDIS"), ("mongodb", "ZARROX_TEST_MONGODB")];

const ENVIRONMENT: Environment = Environment {
    name: "databases",
    lowest: (3, 11),
    // The releases of numcodecs that it runs with end there.
    highest: (3, 13),
    requirements: Some("conformance/requirements/databases.txt"),
};

/// Exchanges the databases that are files.
pub(crate) fn run(ourselves: &Program) -> Outcome {
    let python = ENVIRONMENT.python_with("dbm.gnu")?;
    let has_gdbm = program(&python, ["-c", "import dbm.gnu"]).output().is_some();
    let kinds: Vec<&str> = FILES.into_iter().chain(has_gdbm.then_some(GDBM)).collect();
    run::empty_directory(DIRECTORY)?;
    for kind in &kinds {
        let [theirs, ours] = ["theirs", "ours"].map(|who| format!("{DIRECTORY}/{who}.{kind}"));
        exchange(&python, ourselves, kind, [&theirs, &ours])?;
    }
    println!("databases: exchanged with zarr-python 2: {}", kinds.join(", "));
    if !has_gdbm {
        println!(
            "gdbm was left out: no Python has dbm.gnu; Debian's package python3-gdbm gives it to /usr/bin/python3"
        );
    }
    Ok(())
}

/// Exchanges those of the databases whose servers run.
pub(crate) fn run_on_servers(ourselves: &Program, variables: &Variables) -> Outcome {
    let address = |name: &str| variables.iter().find(|(variable, _)| variable == name).map(|(_, url)| url);
    for (kind, variable) in SERVERS {
        let Some(url) = address(variable) else { continue };
        // Who writes replaces what is there.
        exchange(&ENVIRONMENT.python_with("dbm.gnu")?, ourselves, kind, [url, url])?;
        println!("databases: exchanged with zarr-python 2: {kind}");
    }
    Ok(())
}

/// A hierarchy goes both ways; each changes what the other wrote, and the writer reads again.
fn exchange(python: &str, ourselves: &Program, kind: &str, [theirs, ours]: [&str; 2]) -> Outcome {
    let act = |who: &Program, action: &str, place: &str| who.clone().with([action, kind, place]).run();
    let other = program(python, ["-B", "conformance/databases.py"]);
    let zarrox = ourselves.clone().with(["databases"]);
    act(&other, "write", theirs)?;
    act(&zarrox, "change", theirs)?;
    act(&other, "changed", theirs)?;
    act(&zarrox, "write", ours)?;
    act(&other, "change", ours)?;
    act(&zarrox, "changed", ours)
}
