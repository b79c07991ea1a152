//! Completions in a real bash.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::process::Command;

use crate::common::Sandbox;
use zarrox_testkit::terminal::Terminal;

fn place() -> Sandbox {
    let place = Sandbox::new();
    place.ok(&["create", "sea.zarr/depth", "--shape", "4", "--dtype", "int16"]);
    place.ok(&["create", "sea.zarr/winds/u", "--shape", "4", "--dtype", "f4"]);
    place.ok(&["cp", "sea.zarr", "sea.zip"]);
    place.write("notes.txt", "");
    let script = place.ok(&["completions", "bash"]);
    place.write("zarrox.bash", script);
    place
}

/// Types lines into an interactive bash, and returns the words of its output.
fn typed(place: &Sandbox, lines: &str) -> String {
    let mut bash = Command::new("bash");
    let directory = std::path::Path::new(env!("CARGO_BIN_EXE_zarrox")).parent().unwrap();
    let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap());
    bash.args(["--norc", "--noprofile", "-i"])
        .env("PATH", path)
        .env("PS1", "$ ")
        .env("TERM", "dumb")
        .env("PAGER", "cat");
    bash.env("INPUTRC", "/dev/null").env("HISTFILE", "").current_dir(place.path(""));
    let mut terminal = Terminal::start(bash, (120, 24));
    terminal.write(&format!("source ./zarrox.bash\n{lines}\nexit\n"));
    terminal.finish().1
}

#[test]
fn tab_completes_nodes_inside_of_hierarchies() {
    let place = place();
    let said = typed(&place, "zarrox dump sea.zarr/de\t");
    assert!(said.contains("dump sea.zarr/depth") && said.contains("[0 0 0 0]"), "{said}");
    let said = typed(&place, "zarrox info sea.zip/wi\tu\t | grep float32");
    assert!(said.contains("sea.zip/winds/u") && said.contains("data type"), "{said}");
    let url = format!("zarrox dump file://{}/sea.zarr/winds/\t", place.path("").display());
    let said = typed(&place, &url);
    assert!(said.contains("[0. 0. 0. 0.]"), "{said}");
    let said = typed(&place, "zarrox conso\t --help | head -n 1");
    assert!(said.contains("Write the consolidated metadata"), "{said}");
}

#[test]
fn paths_are_nodes_in_hierarchies_and_files_elsewhere() {
    let place = place();
    let paths = |word: &str| place.ok(&["__paths", word]).lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(paths("sea"), ["sea.zarr/", "sea.zip"]);
    assert_eq!(paths("sea.zarr/"), ["sea.zarr/depth", "sea.zarr/winds/"]);
    assert_eq!(paths("sea.zip/winds/"), ["sea.zip/winds/u"]);
    assert_eq!(paths("n"), ["notes.txt"]);
    assert!(paths("sea.zarr/depth/").is_empty() && paths("nothing/").is_empty());
    // A server that does not respond is abandoned after a timeout.
    let begun = std::time::Instant::now();
    assert!(paths("http://10.255.255.1:9/a.zarr/").is_empty());
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
}
