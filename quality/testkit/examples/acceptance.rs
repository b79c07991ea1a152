//! Prints the page of the documentation about unusual metadata documents: `docs/acceptance.md`.

#![expect(clippy::print_stdout, reason = "printing is what this program does")]

use zarrox::{Format, Registry, Strictness};
use zarrox_testkit::acceptance::{Case, PEERS, cases};

const INTRODUCTION: &str = "\
# Odd metadata

Made by `cargo xtask docs` from the [cases of the testkit](../quality/testkit/acceptance/README.md): metadata that is not as most
is, and who opens it. A case is the minimal document of its format with the members that stand beside its name. Zarrox reads
leniently, which takes every document whose meaning is clear, or strictly, which takes what the specification has and nothing
else (`OpenOptions::strict`, `--strict`). The test of the testkit knows more: which fill value and shape each must have, and for which
reason it must be refused.

Only metadata was opened; for the others that is what they did with it in the versions named.";

fn main() {
    let registry = zarrox::codecs::registry();
    let cases = cases();
    println!("{INTRODUCTION}");
    for (format, title) in [(Format::V3, "Version 3"), (Format::V2, "Version 2")] {
        println!("\n## {title}\n\n| case | the document says | lenient | strict | {} |", PEERS.join(" | "));
        println!("|---|---|---|---|{}", "---|".repeat(PEERS.len()));
        for case in cases.iter().filter(|case| case.format == format) {
            println!("{}", row(case, &registry));
        }
    }
}

fn row(case: &Case, registry: &Registry) -> String {
    let own = [Strictness::Lenient, Strictness::Strict]
        .map(|strictness| word(case.open(registry, strictness).is_ok()));
    let peers = case.peers.map(word);
    let change = match case.change.as_str() {
        "" => String::new(),
        change => format!("`{change}`"),
    };
    let cells = [&[case.name.as_str(), &change], &own[..], &peers[..]].concat();
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |", cells.join(" | "))
}

fn word(opens: bool) -> &'static str {
    if opens { "ok" } else { "refused" }
}
