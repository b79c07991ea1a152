//! Consolidated metadata by the command.

use crate::common::Sandbox;

#[test]
fn it_is_written_checked_and_removed() {
    for (format, file, kept) in [("v2", "h.zarr/.zmetadata", false), ("v3", "h.zarr/zarr.json", true)] {
        let place = Sandbox::new();
        place.ok(&["create", "h.zarr", "--group", "--format", format]);
        place.ok(&["create", "h.zarr/g/a", "--shape", "4", "--dtype", "int8"]);
        let message = place.fails(3, &["consolidate", "h.zarr", "--check"]);
        assert!(message.contains("there is no consolidated metadata"), "{message}");
        place.ok(&["consolidate", "h.zarr"]);
        assert!(String::from_utf8(place.read(file)).unwrap().contains("g/a"));
        assert_eq!(place.ok(&["consolidate", "h.zarr", "--check"]), "");
        place.ok(&["create", "h.zarr/new", "--shape", "4", "--dtype", "int8", "--no-consolidate"]);
        place.ok(&["rm", "h.zarr/g/a", "--force", "--no-consolidate"]);
        let run = place.run(&["consolidate", "h.zarr", "--check"]);
        assert_eq!(run.code, 5, "{}", run.err);
        assert!(run.err.contains("out of date"), "{}", run.err);
        let told = String::from_utf8(run.out).unwrap();
        assert!(told.contains("/g/a is only in the consolidated metadata\n"), "{told}");
        assert!(told.contains("/new is missing in the consolidated metadata\n"), "{told}");
        place.ok(&["consolidate", "h.zarr"]);
        assert_eq!(place.ok(&["consolidate", "h.zarr", "--check"]), "");
        place.ok(&["consolidate", "h.zarr", "--remove"]);
        assert_eq!(place.path(file).exists(), kept);
        place.fails(3, &["consolidate", "h.zarr", "--check"]);
        place.fails(2, &["consolidate", "h.zarr/new"]);
    }
}

/// Returns a hierarchy of an array in a group, with consolidated metadata at the root.
fn consolidated(format: &str) -> Sandbox {
    let place = Sandbox::new();
    place.ok(&["create", "h.zarr", "--group", "--format", format]);
    place.ok(&["create", "h.zarr/g/a", "--shape", "4", "--dtype", "int8"]);
    place.ok(&["consolidate", "h.zarr"]);
    place
}

#[test]
fn commands_that_change_a_hierarchy_keep_it_up_to_date() {
    for format in ["v2", "v3"] {
        let place = consolidated(format);
        let other = if format == "v2" { "v3" } else { "v2" };
        place.ok(&["create", "other.zarr", "--shape", "2", "--dtype", "int8", "--format", other]);
        place.write("more.bin", [1, 0, 2, 0]);
        let commands: [&[&str]; 8] = [
            &["create", "h.zarr/new/deep", "--shape", "2", "--dtype", "int8"],
            &["create", "h.zarr/g/a", "--shape", "3", "--dtype", "int16", "--force"],
            &["attrs", "set", "h.zarr/g", "title", "5"],
            &["attrs", "set", "h.zarr", "title", "6"],
            &["import", "more.bin", "h.zarr/g/a", "--append", "--dtype", "<i2", "--shape", "2"],
            &["mv", "h.zarr/g/a", "h.zarr/b"],
            &["convert", "other.zarr", "h.zarr/c", "--to", format],
            &["rm", "h.zarr/new", "--force"],
        ];
        for command in commands {
            place.ok(command);
            assert_eq!(place.ok(&["consolidate", "h.zarr", "--check"]), "", "{format} {command:?}");
        }
        let info = place.ok(&["info", "h.zarr"]);
        assert!(info.lines().any(|line| line == "consolidated  up to date"), "{info}");
        assert_eq!(place.ok(&["ls", "h.zarr"]), "b\nc\ng/\n");
        place.ok(&["rm", "h.zarr/b", "--force", "--no-consolidate"]);
        let info = place.json(&["info", "h.zarr", "--json"]);
        assert_eq!(info["consolidated"], "out of date for 1 node");
    }
}

#[test]
fn what_cannot_be_brought_up_to_date_is_told_with_the_command_that_does() {
    let place = consolidated("v2");
    place.write("h.zarr/.zmetadata", b"{");
    let run = place.run(&["create", "h.zarr/new", "--shape", "4", "--dtype", "int8"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    let command = format!("`zarrox consolidate {}`", place.path("h.zarr").display());
    assert!(run.err.contains("zarrox: note: ") && run.err.contains(&command), "{}", run.err);
    let info = place.ok(&["info", "h.zarr"]);
    assert!(info.contains("consolidated  broken: "), "{info}");
    place.ok(&["consolidate", "h.zarr"]);
    assert_eq!(place.ok(&["consolidate", "h.zarr", "--check"]), "");

    let run = place.run(&["create", "h.zarr/v3", "--shape", "4", "--dtype", "int8", "--format", "v3"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("'/v3' has the format Zarr v3"), "{}", run.err);
}
