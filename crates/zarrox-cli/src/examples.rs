//! Examples for the help and the manual pages of each command. The tests run all of them.

use std::io::{self, Write};

use clap::Command;

use crate::exit;

/// A shell command, and its description.
pub(crate) struct Example {
    pub(crate) line: &'static str,
    pub(crate) says: &'static str,
}

const fn example(says: &'static str, line: &'static str) -> Example {
    Example { line, says }
}

/// The commands, as words, with their examples.
static EXAMPLES: &[(&str, &[Example])] = &[
    (
        "",
        &[
            example("Show all nodes of a hierarchy", "zarrox tree sea.zarr"),
            example("Show the properties of an array", "zarrox info sea.zarr/depth"),
            example("Import a NumPy array", "zarrox import depth.npy new.zarr/depth"),
            example("Show the examples of all commands", "zarrox help examples"),
        ],
    ),
    (
        "info",
        &[
            example("Show all properties of an array", "zarrox info sea.zarr/depth"),
            example("Show a whole hierarchy like ncdump -h", "zarrox info --header sea.zarr"),
            example("Print several nodes as JSON", "zarrox info --json sea.zarr old.zarr"),
        ],
    ),
    (
        "tree",
        &[
            example("Show all nodes below a group", "zarrox tree sea.zarr"),
            example("Show two levels with attributes", "zarrox tree --attributes --depth 2 sea.zarr"),
        ],
    ),
    (
        "ls",
        &[
            example("List the nodes of a group with shapes and data types", "zarrox ls -l sea.zarr"),
            example("List the hierarchies in this directory", "zarrox ls"),
        ],
    ),
    (
        "du",
        &[
            example("Print the disk usage of each node", "zarrox du sea.zarr"),
            example(
                "Sort nodes by size, and print a histogram of chunk sizes",
                "zarrox du --sort size --histogram sea.zarr old.zarr",
            ),
        ],
    ),
    (
        "stats",
        &[
            example("Print extremes, mean and standard deviation", "zarrox stats sea.zarr/depth"),
            example(
                "Print a histogram and percentiles of a selection",
                "zarrox stats 'sea.zarr/depth[:20]' --histogram 8 --percentiles 5,50,95",
            ),
            example(
                "Store the mean and standard deviation along an axis in a group",
                "zarrox stats sea.zarr/depth --axis lat --measure mean,std --output means.zarr",
            ),
        ],
    ),
    ("head", &[example("Print the first rows", "zarrox head -n 3 sea.zarr/wind")]),
    (
        "serve",
        &[
            example(
                "Print the served hierarchies as JSON",
                "zarrox serve --no-token sea.zarr -- sh -c 'curl -s $ZARROX_SERVER/api/v1/'",
            ),
            example(
                "Read a Zarr 2 hierarchy as Zarr 3 in another program",
                "zarrox serve --no-token a=old.zarr -- sh -c 'zarrox tree $ZARROX_SERVER/v3/a'",
            ),
        ],
    ),
    ("tail", &[example("Print the last rows as CSV", "zarrox tail -n 3 --csv sea.zarr/depth")]),
    (
        "chunks",
        &[
            example("List the stored chunks", "zarrox chunks sea.zarr/depth"),
            example("Print a map of the stored chunks", "zarrox chunks --map sea.zarr/depth"),
        ],
    ),
    (
        "bench",
        &[
            example("Measure the read speed", "zarrox bench sea.zarr/depth"),
            example(
                "Compare other codecs and chunks",
                "zarrox bench sea.zarr/depth --try zstd:3,blosc:lz4,none --chunks 10,10 --chunks=-1,1",
            ),
        ],
    ),
    (
        "plot",
        &[
            example("Draw a heat map", "zarrox plot sea.zarr/depth"),
            example(
                "Write a line plot of a row to a text file",
                "zarrox plot 'sea.zarr/depth[7]' --width 60 --protocol text > row.txt",
            ),
        ],
    ),
    ("cat", &[example("Print a stored document", "zarrox cat sea.zarr/depth zarr.json")]),
    (
        "create",
        &[
            example(
                "Create an array with shards, and missing groups above it",
                "zarrox create new.zarr/depth --shape 400,800 --dtype int16 --chunks 10,10 --shards 100,100",
            ),
            example("Create a group", r#"zarrox create new.zarr/winds --group --attrs '{"title": "winds"}'"#),
        ],
    ),
    (
        "import",
        &[
            example(
                "Import a NumPy file as a new array",
                "zarrox import depth.npy new.zarr/depth --chunks 10,40",
            ),
            example("Append to an existing array", "zarrox import depth.npy sea.zarr/depth --append"),
            example(
                "Import all rows of a raw file after its header",
                "zarrox import depth.raw new.zarr/rows --dtype '<i2' --shape -1,80 --offset 160",
            ),
            example(
                "Import raw elements from a pipe",
                "cat depth.raw | zarrox import - new.zarr/raw --dtype '<i2' --shape 40,80",
            ),
        ],
    ),
    (
        "append",
        &[
            example("Append the rows of a NumPy file", "zarrox append sea.zarr/depth depth.npy"),
            example(
                "Append lines of numbers from a pipe",
                "seq 4 | zarrox append sea.zarr/wind - --from csv",
            ),
            example("Append columns of raw elements", "zarrox append sea.zarr/depth depth.raw --axis lon"),
        ],
    ),
    (
        "export",
        &[
            example(
                "Export a part of an array to a NumPy file",
                "zarrox export 'sea.zarr/depth[:10]' north.npy",
            ),
            example("Export all arrays of a group to one file", "zarrox export sea.zarr sea.npz --compress"),
            example("Export raw elements to a pipe", "zarrox export sea.zarr/depth - --to raw | wc -c"),
            example("Export a hierarchy to NetCDF, for xarray", "zarrox export sea.zarr sea.nc"),
            example(
                "Export an array to TIFF, with its georeference if it has coordinates",
                "zarrox export sea.zarr/depth depth.tif --compression zstd",
            ),
        ],
    ),
    (
        "cp",
        &[
            example("Copy a hierarchy with encoded chunks unchanged", "zarrox cp sea.zarr copy.zarr"),
            example(
                "Copy a part of an array with other chunks and another compressor",
                "zarrox cp 'sea.zarr/depth[:20, ::2]' small.zarr --chunks 10,40 --compressor zstd:9",
            ),
            example(
                "Update a copy, without some arrays",
                "zarrox cp sea.zarr copy.zarr --if-exists update --exclude 'w*'",
            ),
            example(
                "Copy several nodes into a group of another format",
                "zarrox cp --format v2 sea.zarr/depth sea.zarr/wind all.zarr",
            ),
        ],
    ),
    (
        "rechunk",
        &[
            example(
                "Print the plan for chunks of whole columns",
                "zarrox rechunk sea.zarr/depth columns.zarr --chunks=-1,1 --dry-run",
            ),
            example("Change the chunks in place", "zarrox rechunk sea.zarr/depth --chunks 20,20 --in-place"),
        ],
    ),
    (
        "reshard",
        &[example(
            "Copy the chunks of an array into shards",
            "zarrox reshard sea.zarr/depth sharded.zarr --shards=-1,-1",
        )],
    ),
    (
        "downsample",
        &[
            example(
                "Print the plan for pyramid levels beside an array",
                "zarrox downsample sea.zarr/depth --dry-run",
            ),
            example(
                "Create an OME-Zarr image with two downsampled levels",
                "zarrox downsample sea.zarr/depth image.zarr --unit meter --levels 2",
            ),
        ],
    ),
    (
        "convert",
        &[
            example("Print the plan of a conversion", "zarrox convert old.zarr new.zarr --to v3 --dry-run"),
            example("Convert a hierarchy to v3", "zarrox convert old.zarr new.zarr --to v3"),
        ],
    ),
    (
        "consolidate",
        &[
            example("Write consolidated metadata", "zarrox consolidate sea.zarr"),
            example("Check that consolidated metadata is up to date", "zarrox consolidate sea.zarr --check"),
        ],
    ),
    (
        "check",
        &[
            example("Check that a hierarchy is undamaged", "zarrox check sea.zarr"),
            example(
                "Print the repairs without changing anything",
                "zarrox check sea.zarr --repair --dry-run",
            ),
        ],
    ),
    (
        "validate-ome",
        &[example(
            "Validate an OME-Zarr image",
            "zarrox downsample sea.zarr/depth image.zarr && zarrox validate-ome image.zarr",
        )],
    ),
    (
        "diff",
        &[
            example(
                "Compare two hierarchies",
                "zarrox cp sea.zarr copy.zarr && zarrox diff sea.zarr copy.zarr",
            ),
            example(
                "Count the values that differ by more than a tenth",
                "zarrox diff --atol 0.1 --stat sea.zarr/depth copy.zarr/depth",
            ),
        ],
    ),
    (
        "digest",
        &[
            example("Print a hash that is independent of the format", "zarrox digest sea.zarr"),
            example("Print the hashes of two hierarchies", "zarrox digest old.zarr sea.zarr"),
        ],
    ),
    (
        "manifest",
        &[example(
            "List the stored objects of a hierarchy",
            "zarrox manifest write sea.zarr -o sea.manifest",
        )],
    ),
    (
        "manifest write",
        &[example(
            "List the stored objects of a hierarchy",
            "zarrox manifest write sea.zarr -o sea.manifest",
        )],
    ),
    (
        "manifest verify",
        &[example(
            "Verify a copy against the manifest of the original",
            "zarrox manifest write sea.zarr | zarrox manifest verify sea.zarr -",
        )],
    ),
    (
        "dump",
        &[
            example("Print some elements of the last row", "zarrox dump 'sea.zarr/depth[-1, ::10]'"),
            example("Print all elements as CSV", "zarrox dump sea.zarr/depth --csv > depth.csv"),
            example("Print arrays of a group side by side", "zarrox dump sea.zarr --columns wind,wind"),
        ],
    ),
    ("attrs", &[example("Print all attributes", "zarrox attrs get sea.zarr/depth")]),
    (
        "attrs get",
        &[
            example("Print all attributes", "zarrox attrs get sea.zarr/depth"),
            example("Print one attribute", "zarrox attrs get sea.zarr/depth units"),
        ],
    ),
    (
        "attrs set",
        &[
            example("Set a string", "zarrox attrs set sea.zarr/depth units fathoms --string"),
            example(
                "Set another value, as JSON",
                "zarrox attrs set sea.zarr/depth valid_range '[-11000, 9000]'",
            ),
        ],
    ),
    ("attrs edit", &[example("Choose the editor", "EDITOR=true zarrox attrs edit sea.zarr/depth")]),
    (
        "attrs cp",
        &[example(
            "Copy an attribute to another array",
            "zarrox attrs cp sea.zarr/depth sea.zarr/wind units",
        )],
    ),
    ("attrs diff", &[example("Compare the attributes of two groups", "zarrox attrs diff sea.zarr old.zarr")]),
    (
        "find",
        &[
            example(
                "Find arrays of a data type whose name matches a pattern",
                "zarrox find sea.zarr --name 'd*' --dtype int16",
            ),
            example("Find nodes with an attribute", "zarrox find sea.zarr --attr units=m"),
        ],
    ),
    ("meta", &[example("Print the stored documents of an array", "zarrox meta show old.zarr/depth")]),
    ("meta show", &[example("Print the stored documents of an array", "zarrox meta show old.zarr/depth")]),
    ("meta fix", &[example("Print the lines that would change", "zarrox meta fix --dry-run sea.zarr")]),
    ("meta validate", &[example("Validate all documents", "zarrox meta validate sea.zarr")]),
    (
        "set",
        &[
            example("Set one element", "zarrox set 'sea.zarr/depth[0, 3]' -- -7"),
            example("Set three elements of a row", "zarrox set 'sea.zarr/depth[0, :3]' '[1, 2, 3]'"),
        ],
    ),
    ("fill", &[example("Fill a part of an array", "zarrox fill 'sea.zarr/depth[:10]' 5")]),
    ("resize", &[example("Add rows", "zarrox resize sea.zarr/depth 60,-1")]),
    (
        "rename-dim",
        &[example("Rename a dimension in all arrays of a group", "zarrox rename-dim sea.zarr lat latitude")],
    ),
    ("attrs rm", &[example("Remove an attribute", "zarrox attrs rm sea.zarr/depth units")]),
    ("rm", &[example("Delete an array and a whole hierarchy", "zarrox rm --force sea.zarr/depth old.zarr")]),
    (
        "mv",
        &[
            example("Rename an array", "zarrox mv sea.zarr/depth sea.zarr/deep"),
            example("Replace an existing node", "zarrox mv --force sea.zarr/deep sea.zarr/wind"),
            example("Move an array into an archive", "zarrox mv sea.zarr/wind wind.zip"),
        ],
    ),
    ("storage", &[example("List the options of each kind of store", "zarrox storage")]),
    (
        "completions",
        &[example("Load completions into bash", "zarrox completions bash > zarrox.bash && . ./zarrox.bash")],
    ),
    (
        "man",
        &[
            example("Print the main page", "zarrox man"),
            example("Write the pages of all commands for man -M", "zarrox man share/man1"),
        ],
    ),
    (
        "demo",
        &[
            example("Run the demonstration on temporary data", "zarrox demo"),
            example("Run the demonstration and keep the data", "zarrox demo hills"),
        ],
    ),
];

/// Returns the examples of the command that consists of these words.
pub(crate) fn of(words: &str) -> &'static [Example] {
    EXAMPLES.iter().find(|(command, _)| *command == words).map_or(&[], |(_, examples)| examples)
}

/// Prints the examples of all commands.
pub(crate) fn print_all(out: &mut dyn Write) -> io::Result<()> {
    for (words, examples) in EXAMPLES.iter().filter(|(words, _)| !words.is_empty()) {
        writeln!(out, "zarrox {words}:")?;
        for Example { line, says } in *examples {
            writeln!(out, "  # {says}\n  {line}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Appends examples to the help of a command and of its subcommands.
pub(crate) fn added(command: Command) -> Command {
    let command = with_examples(command, "");
    let examples = text(of(""));
    command.after_help(format!("{examples}\n\n{}", exit::help()))
}

fn with_examples(command: Command, words: &str) -> Command {
    let command = command.mut_subcommands(|below| {
        let words = [words, below.get_name()].join(" ");
        with_examples(below, words.trim_start())
    });
    match of(words) {
        [] => command,
        examples => command.after_help(text(examples)),
    }
}

fn text(examples: &[Example]) -> String {
    let lines = examples.iter().map(|Example { line, says }| format!("\n  # {says}\n  {line}"));
    format!("Examples:{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::commands::Cli;

    #[test]
    fn every_command_has_an_example_and_every_example_a_command() {
        fn words(command: &Command, above: &str, all: &mut Vec<String>) {
            all.push(above.to_owned());
            for below in command.get_subcommands() {
                words(below, [above, below.get_name()].join(" ").trim_start(), all);
            }
        }
        let mut all = Vec::new();
        words(&Cli::command(), "", &mut all);
        all.iter().for_each(|words| assert!(!of(words).is_empty(), "'{words}' has no example"));
        EXAMPLES.iter().for_each(|(words, _)| assert!(all.iter().any(|known| known == words), "'{words}'"));
    }
}
