//! Ctrl-C in the middle of long work.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::Sandbox;

/// The number of chunks, more than can be processed before the signal.
const CHUNKS: u32 = 3000;

/// The number of elements in a chunk of 4 MiB.
const CHUNK: u32 = 1 << 20;

/// Returns two arrays. The chunks of each array are links to one file; the chunks of the second array are compressed.
fn large() -> Sandbox {
    let place = Sandbox::new();
    place.write("chunk.raw", (0..CHUNK).flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
    let shape = CHUNK.to_string();
    let line = ["import", "chunk.raw", "a.zarr/t", "--dtype", "<u4", "--compressor", "none"];
    place.ok(&[&line[..], &["--shape", &shape, "--chunks", &shape]].concat());
    place.ok(&["resize", "a.zarr/t", &(u64::from(CHUNK) * u64::from(CHUNKS)).to_string()]);
    place.ok(&["cp", "a.zarr/t", "a.zarr/u", "--compressor", "gzip:1"]);
    for (name, chunk) in ["t", "u"].into_iter().flat_map(|name| (1..CHUNKS).map(move |chunk| (name, chunk))) {
        let chunks = place.path(&format!("a.zarr/{name}/c"));
        std::fs::hard_link(chunks.join("0"), chunks.join(chunk.to_string())).unwrap();
    }
    place
}

/// Runs a command, interrupts it in the middle, and returns its messages.
fn interrupted(place: &Sandbox, line: &[&str]) -> String {
    let mut command = place.command(line);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(800));
    assert!(child.try_wait().unwrap().is_none(), "{line:?} has ended already");
    let begun = Instant::now();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let done = child.wait_with_output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(130), "{line:?}: {said}");
    // An idle machine needs one second.
    assert!(begun.elapsed() < Duration::from_secs(10), "{line:?} took {:?}", begun.elapsed());
    said
}

#[test]
fn work_stops_and_tells_how_to_go_on() {
    let place = large();
    for line in
        [&["stats", "a.zarr/t"][..], &["diff", "a.zarr/t", "a.zarr/u"], &["stats", "a.zarr/t", "--axis", "0"]]
    {
        let said = interrupted(&place, line);
        assert!(said.contains("interrupted; nothing was changed"), "{line:?}: {said}");
    }
    assert!(interrupted(&place, &["check", "a.zarr/u"]).contains("interrupted"));
    for line in [
        &["cp", "a.zarr/t", "b.zarr", "--max-rate", "40MiB"][..],
        &["rechunk", "a.zarr/t", "c.zarr", "--chunks", "300000", "--compressor", "zstd:3"],
    ] {
        let said = interrupted(&place, line);
        assert!(
            said.contains("the chunks that were copied stay, and the same command continues"),
            "{line:?}: {said}"
        );
        let copy = place.run(&["info", line[2]]);
        assert_ne!(copy.code, 0, "a half copy is none");
    }
}
