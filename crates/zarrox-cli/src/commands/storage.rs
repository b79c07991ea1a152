//! `zarrox storage`: lists the options of each store.

use std::fmt::Write as _;
use std::io::Write;

use clap::Args;
use zarrox::stores::internals::OptionValue;
use zarrox::stores::{StorageOption, registry};

use crate::exit::Failure;

/// List the options of each kind of store for --storage
#[derive(Debug, Args)]
#[command(long_about = format!("List the options of each kind of store for --storage\n\n{}", table()))]
pub(crate) struct Storage;

impl Storage {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<(), Failure> {
        Ok(out.write_all(table().as_bytes())?)
    }
}

/// Returns a table of the options of all stores that have any. A store can have several names.
fn table() -> String {
    let stores = registry();
    let all = || stores.storage_options().filter(|(_, options)| !options.is_empty());
    let width =
        all().flat_map(|(_, options)| options).map(|option| shown(option).len()).max().unwrap_or_default();
    let mut table = String::new();
    for (names, options) in all() {
        let separator = if table.is_empty() { "" } else { "\n" };
        // Writing to memory does not fail.
        let _ = writeln!(table, "{separator}{}:", names.join(", "));
        for option in options {
            let _ = writeln!(table, "  {:width$}  {}", shown(option), option.help);
        }
    }
    table
}

/// Returns an option with the form of its value.
fn shown(option: &StorageOption) -> String {
    let value = match option.value {
        OptionValue::Flag => "true|false",
        OptionValue::Bytes => "BYTES",
        _ => "TEXT",
    };
    format!("{}={value}", option.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_store_that_takes_options_is_listed() {
        let table = table();
        for line in [
            "s3, s3a:",
            "file:",
            "simplecache, filecache:",
            "  allow_http=true|false ",
            "  memory_limit=BYTES ",
        ] {
            assert!(table.contains(line), "{line} is missing in {table}");
        }
    }
}
