//! Prints the page of the documentation that follows from definitions in the source: `docs/supported.md`.

#![expect(clippy::print_stdout, reason = "printing is what this program does")]

use zarrox::codec::{CodecDef, CodecKind};
use zarrox::data_type::{Endian, Storage};
use zarrox::json::{Json, Map};
use zarrox::{DataType, ErrorKind, Format, Registry, Result};

const INTRODUCTION: &str = "\
# Supported

Made from the definitions in the source by `cargo xtask docs`.
";

const SIZES: &str = "\
Raw bits, byte strings and text are of any size, times of any unit and multiple: of each there is one example here.";

const CODECS: &str = "
## Codecs

A name is what `codecs` says in `zarr.json`, an id is what `compressor` and `filters` say in `.zarray`. Other names are read, and never
written. v2 has no codecs without an id: it says the same in other members.

| name in v3 | other names | id in v2 | turns |
|---|---|---|---|";

fn main() -> Result<()> {
    let mut formats: Vec<String> = Format::all().map(|format| format.to_string()).collect();
    formats.sort();
    println!("{INTRODUCTION}\nFormats: {}.\n\n## Data types\n", formats.join(", "));
    println!("| name in v3 | in v2 | bytes |\n|---|---|---:|");
    let registry = zarrox::codecs::registry();
    for data_type in registry.examples() {
        println!("{}", data_type_row(&data_type, &registry)?);
    }
    println!("\n{SIZES}\n{CODECS}");
    for kind in [CodecKind::ArrayToArray, CodecKind::ArrayToBytes, CodecKind::BytesToBytes] {
        for definition in zarrox::codecs::ALL.iter().filter(|definition| definition.kind == kind) {
            println!("{}", codec_row(definition));
        }
    }
    Ok(())
}

fn data_type_row(data_type: &DataType, registry: &Registry) -> Result<String> {
    let family = registry.family(data_type)?;
    // v2 has no word for some.
    let names = [Endian::Little, Endian::Big].into_iter().filter_map(|e| family.to_v2(data_type, e).ok());
    let mut names: Vec<String> = names.map(|name| code(&name)).collect();
    names.dedup();
    let own = || format!("none; it is called {} here", code(&data_type.to_string().into()));
    let name = family.to_v3(data_type).map_or_else(|_| own(), |name| code(&name));
    let size = match data_type.storage() {
        Storage::Variable => "any".to_owned(),
        fixed => fixed.size().to_string(),
    };
    Ok(format!("| {name} | {} | {size} |", names.join(", ")))
}

/// A name as code. A bar would end the cell of the table, even there.
fn code(name: &Json) -> String {
    let text = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
    format!("`{}`", text.replace('|', "\\|"))
}

fn codec_row(definition: &CodecDef) -> String {
    let aliases: Vec<String> = definition.aliases.iter().map(|alias| format!("`{alias}`")).collect();
    let id = definition.v2_id.map_or(String::new(), |id| format!("`{id}`"));
    // Some are known only to be refused with the reason.
    let turns = match definition.kind {
        _ if (definition.to_v2)(&Map::new()).is_err_and(|e| e.kind() == ErrorKind::Unsupported) => {
            "nothing: it is refused"
        }
        CodecKind::ArrayToArray => "arrays into arrays",
        CodecKind::ArrayToBytes => "an array into bytes",
        CodecKind::BytesToBytes => "bytes into bytes",
    };
    format!("| `{}` | {} | {id} | {turns} |", definition.name, aliases.join(", "))
}
