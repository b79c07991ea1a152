//! Prints the page of the documentation that is generated from definitions in the source: `docs/supported.md`.

#![expect(clippy::print_stdout, reason = "printing is what this program does")]

mod codecs;

use zarrox::data_type::{Endian, Storage};
use zarrox::json::Json;
use zarrox::{DataType, Format, Registry, Result};

const INTRODUCTION: &str = "\
# Supported

Generated from the definitions in the source by `cargo xtask docs`.
";

const SIZES: &str = "\
Raw bits, fixed-length byte strings and fixed-length strings can have any size. Times can have any unit and scale factor. The table has one example of each.";

fn main() -> Result<()> {
    let mut formats: Vec<String> = Format::all().map(|format| format.to_string()).collect();
    formats.sort();
    println!("{INTRODUCTION}\nFormats: {}.\n\n## Data types\n", formats.join(", "));
    println!("| name in v3 | in v2 | bytes |\n|---|---|---:|");
    let registry = zarrox::codecs::registry();
    for data_type in registry.examples() {
        println!("{}", data_type_row(&data_type, &registry)?);
    }
    print!("\n{SIZES}\n{}", codecs::tables(&registry)?);
    Ok(())
}

fn data_type_row(data_type: &DataType, registry: &Registry) -> Result<String> {
    let family = registry.family(data_type)?;
    // v2 has no name for some data types.
    let names = [Endian::Little, Endian::Big].into_iter().filter_map(|e| family.to_v2(data_type, e).ok());
    let mut names: Vec<String> = names.map(|name| code(&name)).collect();
    names.dedup();
    let own = || format!("none; Zarrox calls it {}", code(&data_type.to_string().into()));
    let name = family.to_v3(data_type).map_or_else(|_| own(), |name| code(&name));
    let size = match data_type.storage() {
        Storage::Variable => "any".to_owned(),
        fixed => fixed.size().to_string(),
    };
    Ok(format!("| {name} | {} | {size} |", names.join(", ")))
}

/// Returns a name as code. A bar would end the table cell, even in code.
fn code(name: &Json) -> String {
    let text = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
    format!("`{}`", text.replace('|', "\\|"))
}
