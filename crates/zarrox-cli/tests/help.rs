//! Help, manual pages and completions.

use std::path::Path;
use std::process::Command;

use crate::common::Sandbox;

/// Every command, as words.
const COMMANDS: &[&[&str]] = &[
    &[],
    &["info"],
    &["tree"],
    &["ls"],
    &["du"],
    &["stats"],
    &["head"],
    &["tail"],
    &["chunks"],
    &["bench"],
    &["plot"],
    &["cat"],
    &["create"],
    &["import"],
    &["append"],
    &["export"],
    &["cp"],
    &["rechunk"],
    &["reshard"],
    &["downsample"],
    &["convert"],
    &["check"],
    &["validate-ome"],
    &["consolidate"],
    &["diff"],
    &["digest"],
    &["manifest"],
    &["manifest", "write"],
    &["manifest", "verify"],
    &["dump"],
    &["attrs"],
    &["attrs", "get"],
    &["attrs", "set"],
    &["attrs", "edit"],
    &["attrs", "cp"],
    &["attrs", "diff"],
    &["attrs", "rm"],
    &["find"],
    &["meta"],
    &["meta", "show"],
    &["meta", "validate"],
    &["meta", "fix"],
    &["set"],
    &["fill"],
    &["resize"],
    &["rename-dim"],
    &["rm"],
    &["mv"],
    &["serve"],
    &["storage"],
    &["completions"],
    &["man"],
    &["demo"],
];

/// Returns the nodes and files that the examples use.
fn sea() -> Sandbox {
    let place = Sandbox::new();
    let units = r#"{"units": "m"}"#;
    let names = ["--dimension-names", "lat,lon", "--attrs", units];
    place.ok(&[&["create", "sea.zarr/depth", "--shape", "40,80", "--dtype", "int16"], &names[..]].concat());
    place.ok(&["create", "sea.zarr/wind", "--shape", "4", "--dtype", "f4"]);
    place.ok(&["create", "old.zarr/depth", "--format", "v2", "--shape", "40", "--dtype", "int16"]);
    place.ok(&["export", "sea.zarr/depth", "depth.npy"]);
    place.ok(&["export", "sea.zarr/depth", "depth.raw", "--to", "raw"]);
    place
}

fn examples(place: &Sandbox, words: &[&str]) -> Vec<String> {
    let help = place.ok(&[words, &["--help"]].concat());
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    let lines = lines.take_while(|line| line.starts_with("  ")).map(str::trim);
    lines.filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

#[cfg(unix)]
#[test]
fn every_example_of_the_help_runs_and_succeeds() {
    let directory = Path::new(env!("CARGO_BIN_EXE_zarrox")).parent().unwrap();
    let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap());
    for words in COMMANDS {
        let place = sea();
        let examples = examples(&place, words);
        assert!(!examples.is_empty(), "{words:?} has no example");
        for example in examples {
            let mut shell = Command::new("bash");
            shell.args(["-c", &format!("set -o pipefail; {example}")]).env("PATH", &path);
            let run = shell.current_dir(place.path("")).output().unwrap();
            let said = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success() && said.is_empty(), "{example}: {said}");
        }
    }
}

#[test]
fn the_list_has_every_command() {
    let place = Sandbox::new();
    place.ok(&["man", "pages"]);
    let pages = std::fs::read_dir(place.path("pages")).unwrap();
    let mut pages: Vec<_> = pages.map(|page| page.unwrap().file_name().into_string().unwrap()).collect();
    let listed = COMMANDS.iter().map(|words| format!("{}.1", [&["zarrox"], *words].concat().join("-")));
    let mut listed: Vec<_> = listed.collect();
    pages.sort();
    listed.sort();
    assert_eq!(pages, listed);
}

#[test]
fn manual_pages_have_examples_environment_exit_status_and_references() {
    let place = Sandbox::new();
    place.ok(&["man", "pages"]);
    for words in COMMANDS {
        let name = [&["zarrox"], *words].concat().join("-");
        let page = String::from_utf8(place.read(&format!("pages/{name}.1"))).unwrap();
        for section in ["NAME", "SYNOPSIS", "EXAMPLES", "ENVIRONMENT", "\"EXIT STATUS\"", "\"SEE ALSO\""] {
            assert_eq!(page.matches(&format!("\n.SH {section}\n")).count(), 1, "{section} of {name}");
        }
        assert!(page.contains("zarrox\\-"), "{name} refers to other pages");
    }
    assert!(place.ok(&["man"]).contains("AWS_PROFILE"));
}

#[test]
fn values_of_options_are_completed_and_others_stay_legal() {
    let place = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = place.ok(&["completions", shell]);
        for value in [
            "v3-experimental",
            "zstd",
            "blosc",
            "float32",
            "bfloat16",
            "crc32c",
            "dimension-names",
            "orthogonal",
        ] {
            assert!(script.contains(value), "{value} for {shell}");
        }
    }
    let create = ["create", "a.zarr", "--shape", "4", "--force"];
    for more in [["--format", "2", "--dtype", "<f4"], ["--compressor", "zstd:7", "--dtype", "float32"]] {
        place.ok(&[&create[..], &more].concat());
    }
    let said = place.fails(2, &[&create[..], &["--dtype", "f4", "--compressor", "zip"]].concat());
    assert!(said.contains("'zip' for '--compressor <NAME[:LEVEL]>': the compressors are zstd"), "{said}");
    let help = place.ok(&["create", "--help"]);
    assert!(!help.contains("possible values: none, zstd"), "levels are legal, too");
}

#[test]
fn the_demo_runs_each_step_that_it_prints() {
    let place = Sandbox::new();
    let told = place.ok(&["demo", "hills"]);
    let steps: Vec<_> = told.lines().filter(|line| line.starts_with("$ zarrox ")).collect();
    assert!(steps.len() > 5, "{told}");
    assert!(told.contains("elevation (1200, 1600) int16"), "{told}");
    let rows = |path| place.json(&["info", "--json", path])["shape"][0].clone();
    assert_eq!([rows("hills/hills.zarr/elevation"), rows("hills/old.zarr/elevation")], [1600, 1600]);
    let again = place.run(&["demo", "hills"]);
    assert_eq!(again.code, 4, "{}", again.err);
    assert!(again.err.contains("hills"), "{}", again.err);
}
