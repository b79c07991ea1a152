//! Pictures in a terminal.

use std::process::Command;

use crate::common::Sandbox;
use zarrox_testkit::terminal::Terminal;

/// Returns an array with a ramp that has a missing element, and an array with a wave.
fn place() -> Sandbox {
    let place = Sandbox::new();
    let ramp: Vec<u8> = (0..8_i16).flat_map(|n| if n == 5 { -1 } else { n * 10 }.to_le_bytes()).collect();
    place.write("ramp.raw", ramp);
    let line = ["import", "ramp.raw", "a.zarr/ramp", "--dtype", "<i2", "--shape", "2,4", "--fill-value=-1"];
    place.ok(&line);
    let wave: Vec<u8> = (0..64_u8)
        .flat_map(|n| ((f32::from(n) / 64.0 * std::f32::consts::TAU).sin()).to_le_bytes())
        .collect();
    place.write("wave.raw", wave);
    place.ok(&["import", "wave.raw", "a.zarr/wave", "--dtype", "<f4", "--shape", "64", "--chunks", "8"]);
    place
}

/// Returns the output of the command in a terminal of 60 columns and 12 lines.
fn drawn(place: &Sandbox, line: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command: Command = place.command(line);
    for name in ["NO_COLOR", "COLORTERM", "TERM_PROGRAM"] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm-256color").envs(variables.iter().copied());
    let (code, said) = Terminal::start(command, (60, 12)).finish();
    assert_eq!(code, 0, "{said}");
    said
}

const GRAY: [&str; 4] = ["plot", "a.zarr/ramp", "--cmap", "gray"];

#[test]
fn half_blocks_have_two_points_of_24_bit_colours() {
    let said = drawn(&place(), &GRAY, &[("COLORTERM", "truecolor")]);
    let (picture, legend) = said.split_once('\n').unwrap();
    let golden = "\x1b[0m\x1b[38;2;0;0;0m\x1b[48;2;146;146;146m▀\x1b[0m\x1b[38;2;36;36;36m\x1b[48;2;255;0;255m▀\
        \x1b[0m\x1b[38;2;73;73;73m\x1b[48;2;219;219;219m▀\x1b[0m\x1b[38;2;109;109;109m\x1b[48;2;255;255;255m▀\x1b[0m";
    assert_eq!(picture, golden);
    assert!(legend.starts_with("0 \x1b[0m\x1b[38;2;0;0;0m"), "{legend:?}");
    assert!(legend.ends_with(" 70  (2, 4) int16, every element\n"), "{legend:?}");
}

#[test]
fn terminals_get_what_they_can_show() {
    let place = place();
    let said = drawn(&place, &GRAY, &[]);
    assert!(
        said.starts_with("\x1b[0m\x1b[38;5;16m\x1b[48;5;246m▀\x1b[0m\x1b[38;5;235m\x1b[48;5;201m▀"),
        "{said:?}"
    );
    let plain = place.ok(&[&GRAY[..], &["--protocol", "text"]].concat());
    assert_eq!(plain, " .-=\n+?%@\n0  ..::-==++*##%%@ 70  (2, 4) int16, every element\n");
    assert_eq!(place.ok(&GRAY), plain, "a pipe gets text");
    assert_eq!(drawn(&place, &GRAY, &[("NO_COLOR", "1")]), plain);
    let kitty = drawn(&place, &GRAY, &[("TERM", "xterm-kitty")]);
    assert!(kitty.starts_with("\x1b_Ga=T,f=32,s=4,v=2,m=0;AAAA/yQk"), "{kitty:?}");
    let sixel = drawn(&place, &[&GRAY[..], &["--protocol", "sixel"]].concat(), &[]);
    assert!(sixel.starts_with("\x1bP0;1q\"1;1;4;2#0;2;0;0;0"), "{sixel:?}");
}

#[test]
fn a_line_reaches_from_the_smallest_to_the_largest_value() {
    let place = place();
    let plain = place.ok(&["plot", "a.zarr/wave", "--width", "16", "--height", "4"]);
    let lines: Vec<&str> = plain.lines().collect();
    assert_eq!(lines[0], "1");
    assert_eq!(lines[5], "-1  (64,) float32, extremes");
    assert_eq!(lines[1..5], [" ▄█▀▀█▄", "█▀    ▀█▄", "▀       █▄    ▄█", "         ▀█▄▄█▀"], "{plain}");
}

#[test]
fn large_arrays_are_reduced() {
    let place = place();
    let rows = ["--shape", "100,400", "--dtype", "u1", "--chunks", "10,400", "--fill-value", "7"];
    place.ok(&[&["create", "a.zarr/large"], &rows[..]].concat());
    place.ok(&["fill", "a.zarr/large[50:]", "3"]);
    place.ok(&["fill", "a.zarr/large[50:, 200:]", "9"]);
    let line = ["plot", "a.zarr/large", "--width", "8", "--height", "4", "--protocol", "text"];
    for reduce in ["mean", "nearest"] {
        let said = place.ok(&[&line[..], &["--reduce", reduce]].concat());
        let says = if reduce == "mean" { "means" } else { "single elements" };
        assert!(said.starts_with("????????\n????????\n    @@@@\n    @@@@\n"), "{said}");
        assert!(said.lines().last().unwrap().ends_with(&format!(" 9  (100, 400) uint8, {says}")), "{said}");
    }
    // Chunks without a drawn element are not read.
    std::fs::write(place.path("a.zarr/large/c/5/0"), "damaged").unwrap();
    place.fails(5, &line);
    place.ok(&[&line[..], &["--reduce", "nearest"]].concat());
}

#[test]
fn other_dimensions_and_types_are_refused() {
    let place = place();
    place.ok(&["create", "a.zarr/cube", "--shape", "2,2,2", "--dtype", "i4"]);
    let said = place.fails(2, &["plot", "a.zarr/cube"]);
    assert!(said.contains("select a part, such as 'a.zarr/cube[0]'"), "{said}");
    place.ok(&["plot", "a.zarr/cube[0]"]);
    place.ok(&["create", "a.zarr/text", "--shape", "2", "--dtype", "string"]);
    place.fails(2, &["plot", "a.zarr/text"]);
    place.fails(2, &["plot", "a.zarr/ramp", "--range", "3,1"]);
    place.fails(2, &["plot", "a.zarr/ramp", "--cmap", "rainbow"]);
    place.ok(&["create", "a.zarr/none", "--shape", "0", "--dtype", "i4"]);
    place.fails(2, &["plot", "a.zarr/none"]);
}
