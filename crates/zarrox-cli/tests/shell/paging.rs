//! Long output in a terminal.

use crate::common::Sandbox;
use zarrox_testkit::terminal::Terminal;

fn shown(place: &Sandbox, line: &[&str], pager: &str) -> String {
    let mut command = place.command(line);
    command.env("PAGER", pager).env("TERM", "xterm-256color");
    let (code, said) = Terminal::start(command, (80, 24)).finish();
    assert_eq!(code, 0, "{said}");
    said
}

#[test]
fn a_terminal_shows_long_output_through_the_pager() {
    let place = Sandbox::new();
    place.ok(&["create", "a.zarr", "--shape", "3", "--dtype", "i4"]);
    let plain = place.ok(&["dump", "a.zarr"]);
    assert_eq!(plain, "[0 0 0]\n");
    assert_eq!(shown(&place, &["dump", "a.zarr"], "sed s/^/page:/"), "page:[0 0 0]\n");
    for (line, pager) in [
        (&["dump", "a.zarr", "--no-pager"][..], "sed s/^/page:/"),
        (&["dump", "a.zarr"], "cat"),
        (&["dump", "a.zarr"], ""),
        (&["dump", "a.zarr"], "no-such-program"),
    ] {
        assert_eq!(shown(&place, line, pager), plain, "{line:?} {pager}");
    }
    // A closed output is not an error.
    place.ok(&["create", "b.zarr", "--shape", "100000", "--dtype", "i4"]);
    assert_eq!(shown(&place, &["dump", "b.zarr", "--full"], "head -n 1").lines().count(), 1);
    let stats = shown(&place, &["attrs", "get", "a.zarr"], "sed s/^/page:/");
    assert_eq!(stats, "{}\n");
}

#[test]
fn all_examples_are_in_one_place() {
    let place = Sandbox::new();
    let all = place.ok(&["help", "examples"]);
    assert!(all.contains(
        "zarrox cp:\n  # Copy a hierarchy with encoded chunks unchanged\n  zarrox cp sea.zarr copy.zarr\n"
    ));
    assert!(all.contains("zarrox attrs edit:\n"));
    assert!(place.ok(&["help", "cp"]).contains("Usage: zarrox cp"));
}
