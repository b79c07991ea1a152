//! Prints the page of the documentation that follows from definitions in the source: `docs/supported.md`.

#![expect(clippy::print_stdout, reason = "printing is what this program does")]

use zarrox::codec::{CodecDef, CodecKind};
use zarrox::data_type::Endian;
use zarrox::json::Json;
use zarrox::{DataType, Format, Registry, Result};

const INTRODUCTION: &str = "\
# Supported

Made from the definitions in the source by `cargo xtask docs`.
";

const CODECS: &str = "
## Codecs

A name is what `codecs` says in `zarr.json`, an id is what `compressor` and `filters` say in `.zarray`. Other names are read, and never
written. v2 has no codecs without an id: it says the same in other members.

| name in v3 | other names | id in v2 | turns |
|---|---|---|---|";

const DATA_TYPES: &[DataType] = &[
    DataType::Bool,
    DataType::Int8,
    DataType::Int16,
    DataType::Int32,
    DataType::Int64,
    DataType::UInt8,
    DataType::UInt16,
    DataType::UInt32,
    DataType::UInt64,
    DataType::Float16,
    DataType::Float32,
    DataType::Float64,
    DataType::Complex64,
    DataType::Complex128,
    DataType::RawBits(3),
];

fn main() -> Result<()> {
    let mut formats: Vec<String> = Format::all().map(|format| format.to_string()).collect();
    formats.sort();
    println!("{INTRODUCTION}\nFormats: {}.\n\n## Data types\n", formats.join(", "));
    println!("| name in v3 | in v2 | bytes |\n|---|---|---:|");
    let registry = zarrox::codecs::registry();
    for data_type in DATA_TYPES {
        println!("{}", data_type_row(data_type, &registry)?);
    }
    println!("\nRaw bytes are of any size: `r24` has three bytes.\n{CODECS}");
    for kind in [CodecKind::ArrayToArray, CodecKind::ArrayToBytes, CodecKind::BytesToBytes] {
        for definition in zarrox::codecs::ALL.iter().filter(|definition| definition.kind == kind) {
            println!("{}", codec_row(definition));
        }
    }
    Ok(())
}

fn data_type_row(data_type: &DataType, registry: &Registry) -> Result<String> {
    let family = registry.family(data_type)?;
    let mut names = vec![family.to_v2(data_type, Endian::Little)?, family.to_v2(data_type, Endian::Big)?];
    names.dedup();
    // A bar would end the cell of the table, even inside code.
    let name = |name: &Json| Some(format!("`{}`", name.as_str()?.replace('|', "\\|")));
    let names: Vec<String> = names.iter().filter_map(name).collect();
    Ok(format!("| `{data_type}` | {} | {} |", names.join(", "), data_type.size()))
}

fn codec_row(definition: &CodecDef) -> String {
    let aliases: Vec<String> = definition.aliases.iter().map(|alias| format!("`{alias}`")).collect();
    let id = definition.v2_id.map_or(String::new(), |id| format!("`{id}`"));
    let turns = match definition.kind {
        CodecKind::ArrayToArray => "arrays into arrays",
        CodecKind::ArrayToBytes => "an array into bytes",
        CodecKind::BytesToBytes => "bytes into bytes",
    };
    format!("| `{}` | {} | {id} | {turns} |", definition.name, aliases.join(", "))
}
