//! `cargo xtask docs`: the generated pages.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::lint::public_api;
use zarrox_conformance::{INDEXING, RESULTS, counts, indexing, way};
use zarrox_runner::run::{self, Outcome};

pub(crate) const HELP: &str = "\
Writes the generated pages of the documentation: docs/supported.md, docs/acceptance.md and docs/conformance.md

With --public-api it writes the lists of the public items of the crates, in xtask/public-api.
With --check it writes nothing, and fails when a page is stale. The conformance page is generated from the last
run of `cargo xtask conformance`, and stays unchanged if there was none.";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    if arguments.iter().any(|argument| argument == "--check") {
        return check();
    }
    if arguments.iter().any(|argument| argument == "--public-api") {
        return public_api::write();
    }
    pages()?.iter().try_for_each(|(path, text)| run::write(path, text))
}

/// Fails when a page is stale.
pub(crate) fn check() -> Outcome {
    let stale = |(path, text): &(&str, String)| run::read(path).map_or(true, |there| there != *text);
    let stale: Vec<_> = pages()?.into_iter().filter(stale).map(|(path, _)| path).collect();
    if stale.is_empty() {
        return Ok(());
    }
    Err(format!("{} are stale: run cargo xtask docs", stale.join(", ")))
}

/// Returns all generated pages.
fn pages() -> Outcome<Vec<(&'static str, String)>> {
    let mut pages =
        vec![("docs/supported.md", printed("tables")?), ("docs/acceptance.md", printed("acceptance")?)];
    if Path::new(RESULTS).exists() {
        let results = serde_json::from_str(&run::read(RESULTS)?).map_err(|error| error.to_string())?;
        pages.push(("docs/conformance.md", conformance(&results)));
    }
    Ok(pages)
}

/// Returns the page that an example of the testkit prints from the definitions in the source.
fn printed(example: &str) -> Outcome<String> {
    let program = run::example(example)?;
    program.output().map(|text| text + "\n").ok_or_else(|| format!("failed: {program}"))
}

const INTRODUCTION: &str = "\
# Conformance

Zarrox exchanges arrays with the other implementations. Each implementation reads the arrays of the other implementation and changes them. Then
the implementation that wrote the arrays reads them again. Every element is compared bit for bit (two NaNs count as equal). Shape, data type,
chunks, codecs, fill value, attributes, dimension names and the members of groups are compared as well.

A *cell* is an array or a group with one combination of properties. The matrix of all cells combines formats 2 and 3 with data types in both byte
orders, codecs, orders, shards, chunk keys, fill values, partial and strided writes, resizing, and shapes with partial chunks, without elements or
without dimensions:

- Every core data type is combined with every codec.
- For any other two properties, every value of one property occurs with every value of the other property in some cell.
- Text of fixed length, byte strings, times, and the small floats and integers are combined with a few codecs and all other properties.
- These are combined in the same way, with fewer shapes: text and bytes of variable length, objects (`json2`, `msgpack2`, `vlen-array`,
  `categorize`), structured data types (nested, with fields that are arrays, padded, with mixed byte orders), and rectilinear chunk grids.
- Zarrox writes format 1, and zarr-python 2 reads it after its migration.

[`quality/conformance/matrix.py`](../quality/conformance/matrix.py) defines the matrix. `cargo xtask conformance` runs it, and `cargo xtask docs`
generates this page from the results.
";

fn conformance(results: &Value) -> String {
    let mut page = INTRODUCTION.to_owned();
    page += "\n| implementation | versions |\n|---|---|\n";
    for (implementation, versions) in results["versions"].as_object().into_iter().flatten() {
        let versions = versions.as_object().into_iter().flatten();
        let versions: Vec<_> = versions
            .map(|(name, version)| format!("{name} {}", version.as_str().unwrap_or_default()))
            .collect();
        let _ = writeln!(page, "| {implementation} | {} |", versions.join(", "));
    }
    page += "\n## Outcome\n\n";
    page += "| written → (updated →) read | cells | passed | failed |\n|---|---:|---:|---:|\n";
    for direction in results["directions"].as_array().into_iter().flatten() {
        let (cells, passed) = counts(direction);
        let _ = writeln!(page, "| {} | {cells} | {passed} | {} |", way(direction), cells - passed);
    }
    page += "\n## What is left out\n\n";
    page += "These cells are left out, since an implementation does not support them. The rules are decided before the run\n";
    page += "([`quality/conformance/rules.py`](../quality/conformance/rules.py)):\n\n";
    page += "| implementation | what it does | cells |\n|---|---|---|\n";
    for rule in results["not_applicable"].as_array().into_iter().flatten() {
        let text = |member: &str| rule[member].as_str().unwrap_or_default().to_owned();
        let actions = rule["cells"].as_object().into_iter().flatten();
        let actions: Vec<_> = actions.map(|(action, count)| format!("{action} {count}")).collect();
        let _ =
            writeln!(page, "| {} | {} | {} |", text("implementation"), text("reason"), actions.join(", "));
    }
    if !results[INDEXING].is_null() {
        page += &indexing::section(&results[INDEXING]);
    }
    page
}
