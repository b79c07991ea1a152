//! Downsampling that is killed at random moments, and started again.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::Sandbox;

/// A generator of pseudorandom numbers (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// Returns an image of 4 MiB in 4,096 chunks.
fn image(numbers: &mut Numbers) -> Sandbox {
    let place = Sandbox::new();
    let values: Vec<u8> = (0..1 << 19).flat_map(|_| numbers.next().to_le_bytes()).collect();
    place.write("values.raw", values);
    let shape = ["--dtype", "u1", "--shape", "2048,2048", "--chunks", "32,32"];
    place.ok(&[&["import", "values.raw", "source.zarr"], &shape[..]].concat());
    place
}

/// Runs a command repeatedly, and kills it after a random part of `time`, until it completes. Returns the number of kills.
fn until_done(place: &Sandbox, line: &[&str], time: Duration, numbers: &mut Numbers) -> u32 {
    let mut kills = 0;
    loop {
        let mut child = place.command(line).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let patience =
            time.mul_f64(0.05 + 0.5 * f64::from(u32::try_from(numbers.next() % 1000).unwrap()) / 1000.0);
        let begun = Instant::now();
        while begun.elapsed() < patience && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        if kills < 25 && child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
            continue;
        }
        let done = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        if done.status.success() {
            return kills;
        }
        // The last run was killed when only its last step or its messages were missing.
        assert!(said.contains("already"), "{said}");
        return kills;
    }
}

fn compare(beside: bool) {
    let seed = std::env::var("ZARROX_RANDOM_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(24);
    let mut numbers = Numbers(seed);
    let place = image(&mut numbers);
    let named = ["--name", "noise", "--max-memory", "4MiB"];
    let begun = Instant::now();
    place.ok(&[&["downsample", "source.zarr", "whole.zarr"], &named[..]].concat());
    let time = begun.elapsed();
    let line = match beside {
        true => [&["downsample", "broken.zarr/0"], &named[..]].concat(),
        false => [&["downsample", "source.zarr", "broken.zarr"], &named[..]].concat(),
    };
    // Other programs may have slowed down the measured run. If a run ends before it is killed, the test starts anew with half of
    // the time.
    let mut patience = time;
    let kills = loop {
        let _ = std::fs::remove_dir_all(place.path("broken.zarr"));
        if beside {
            place.ok(&["cp", "source.zarr", "broken.zarr/0"]);
        }
        match until_done(&place, &line, patience, &mut numbers) {
            0 => patience /= 2,
            kills => break kills,
        }
    };
    let digest = |path: &str| place.ok(&["digest", path]);
    for level in 0..=6 {
        assert_eq!(
            digest(&format!("broken.zarr/{level}")).split(' ').next(),
            digest(&format!("whole.zarr/{level}")).split(' ').next(),
            "level {level} after {kills} kills, seed {seed}"
        );
    }
    let attributes = |path: &str| place.ok(&["attrs", "get", path]);
    assert_eq!(attributes("broken.zarr"), attributes("whole.zarr"));
    assert!(!place.path("broken.zarr/.zarrox-journal.json").exists());
    assert!(!place.path("broken.zarr/1/.zarrox-journal.json").exists());
    place.ok(&["validate-ome", "broken.zarr"]);
}

#[test]
fn a_new_group_is_right_after_any_number_of_kills() {
    compare(false);
}

#[test]
fn levels_beside_an_array_are_right_after_any_number_of_kills() {
    compare(true);
}
