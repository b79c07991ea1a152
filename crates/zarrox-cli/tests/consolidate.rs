//! Consolidated metadata by the command.

use crate::common::Place;

#[test]
fn it_is_written_checked_and_removed() {
    for (format, file, kept) in [("v2", "h.zarr/.zmetadata", false), ("v3", "h.zarr/zarr.json", true)] {
        let place = Place::new();
        place.ok(&["create", "h.zarr", "--group", "--format", format]);
        place.ok(&["create", "h.zarr/g/a", "--shape", "4", "--dtype", "int8"]);
        let message = place.fails(3, &["consolidate", "h.zarr", "--check"]);
        assert!(message.contains("there is no consolidated metadata"), "{message}");
        place.ok(&["consolidate", "h.zarr"]);
        assert!(String::from_utf8(place.read(file)).unwrap().contains("g/a"));
        assert_eq!(place.ok(&["consolidate", "h.zarr", "--check"]), "");
        place.ok(&["create", "h.zarr/new", "--shape", "4", "--dtype", "int8"]);
        place.ok(&["rm", "h.zarr/g/a", "--force"]);
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
