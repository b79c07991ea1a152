//! Examples for the help and the manual pages of each command. The tests run them all.

use std::io::{self, Write};

use clap::Command;

use crate::exit;

/// A line for the shell, and what it does.
pub(crate) struct Example {
    pub(crate) line: &'static str,
    pub(crate) says: &'static str,
}

const fn example(says: &'static str, line: &'static str) -> Example {
    Example { line, says }
}

/// The words of each command, and its examples.
static EXAMPLES: &[(&str, &[Example])] = &[
    (
        "",
        &[
            example("Show the content of a hierarchy", "zarrox tree sea.zarr"),
            example("Look at an array", "zarrox info sea.zarr/depth"),
            example("Store a NumPy array", "zarrox import depth.npy new.zarr/depth"),
            example("The examples of all commands", "zarrox help examples"),
        ],
    ),
    (
        "info",
        &[
            example("All properties of an array", "zarrox info sea.zarr/depth"),
            example("A whole hierarchy, as ncdump -h shows it", "zarrox info --header sea.zarr"),
            example("Several nodes, as JSON for a program", "zarrox info --json sea.zarr old.zarr"),
        ],
    ),
    (
        "tree",
        &[
            example("Everything below a group", "zarrox tree sea.zarr"),
            example("Two levels, with attributes", "zarrox tree --attributes --depth 2 sea.zarr"),
        ],
    ),
    (
        "ls",
        &[
            example("List the nodes of a group with shape and type", "zarrox ls -l sea.zarr"),
            example("List the hierarchies in this directory", "zarrox ls"),
        ],
    ),
    (
        "du",
        &[
            example("The space of each node", "zarrox du sea.zarr"),
            example(
                "The largest nodes first, and the sizes of chunks",
                "zarrox du --sort size --histogram sea.zarr old.zarr",
            ),
        ],
    ),
    (
        "stats",
        &[
            example("Extremes, mean and deviation", "zarrox stats sea.zarr/depth"),
            example(
                "A histogram and percentiles of a part",
                "zarrox stats 'sea.zarr/depth[:20]' --histogram 8 --percentiles 5,50,95",
            ),
            example(
                "Mean and deviation along an axis, stored in a group",
                "zarrox stats sea.zarr/depth --axis lat --measure mean,std --output means.zarr",
            ),
        ],
    ),
    ("head", &[example("The first rows", "zarrox head -n 3 sea.zarr/wind")]),
    (
        "serve",
        &[
            example(
                "What a server has, as JSON",
                "zarrox serve --no-token sea.zarr -- sh -c 'curl -s $ZARROX_SERVER/api/v1/'",
            ),
            example(
                "Let a program read Zarr 2 as Zarr 3",
                "zarrox serve --no-token a=old.zarr -- sh -c 'zarrox tree $ZARROX_SERVER/v3/a'",
            ),
        ],
    ),
    ("tail", &[example("The last rows, for a spreadsheet", "zarrox tail -n 3 --csv sea.zarr/depth")]),
    (
        "chunks",
        &[
            example("The stored chunks", "zarrox chunks sea.zarr/depth"),
            example("A map of them", "zarrox chunks --map sea.zarr/depth"),
        ],
    ),
    (
        "bench",
        &[
            example("The speed of reading", "zarrox bench sea.zarr/depth"),
            example(
                "Other codecs and chunks",
                "zarrox bench sea.zarr/depth --try zstd:3,blosc:lz4,none --chunks 10,10 --chunks=-1,1",
            ),
        ],
    ),
    (
        "plot",
        &[
            example("A heat map", "zarrox plot sea.zarr/depth"),
            example(
                "A row as a line, for a file",
                "zarrox plot 'sea.zarr/depth[7]' --width 60 --protocol text > row.txt",
            ),
        ],
    ),
    ("cat", &[example("A document as it is stored", "zarrox cat sea.zarr/depth zarr.json")]),
    (
        "create",
        &[
            example(
                "Create an array with shards, and the groups above it",
                "zarrox create new.zarr/depth --shape 400,800 --dtype int16 --chunks 10,10 --shards 100,100",
            ),
            example("A group", r#"zarrox create new.zarr/winds --group --attrs '{"title": "winds"}'"#),
        ],
    ),
    (
        "import",
        &[
            example(
                "Store a NumPy file as a new array",
                "zarrox import depth.npy new.zarr/depth --chunks 10,40",
            ),
            example("Append to an existing array", "zarrox import depth.npy sea.zarr/depth --append"),
            example(
                "Store all rows of a raw file after its header",
                "zarrox import depth.raw new.zarr/rows --dtype '<i2' --shape -1,80 --offset 160",
            ),
            example(
                "Store raw elements from a pipe",
                "cat depth.raw | zarrox import - new.zarr/raw --dtype '<i2' --shape 40,80",
            ),
        ],
    ),
    (
        "append",
        &[
            example("Rows of a NumPy file", "zarrox append sea.zarr/depth depth.npy"),
            example("Lines of numbers from a pipe", "seq 4 | zarrox append sea.zarr/wind - --from csv"),
            example("Columns of raw elements", "zarrox append sea.zarr/depth depth.raw --axis lon"),
        ],
    ),
    (
        "export",
        &[
            example(
                "Write a part of an array to a NumPy file",
                "zarrox export 'sea.zarr/depth[:10]' north.npy",
            ),
            example("Write all arrays of a group to one file", "zarrox export sea.zarr sea.npz --compress"),
            example("Write raw elements to a pipe", "zarrox export sea.zarr/depth - --to raw | wc -c"),
            example("Write a hierarchy as NetCDF, which xarray opens", "zarrox export sea.zarr sea.nc"),
            example(
                "Write an array as TIFF, with its place if coordinates tell one",
                "zarrox export sea.zarr/depth depth.tif --compression zstd",
            ),
        ],
    ),
    (
        "cp",
        &[
            example("Copy a hierarchy, with its stored bytes as they are", "zarrox cp sea.zarr copy.zarr"),
            example(
                "Copy a part of an array into other chunks and with another compressor",
                "zarrox cp 'sea.zarr/depth[:20, ::2]' small.zarr --chunks 10,40 --compressor zstd:9",
            ),
            example(
                "Bring a copy up to date, without some arrays",
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
                "The plan of a copy into columns",
                "zarrox rechunk sea.zarr/depth columns.zarr --chunks=-1,1 --dry-run",
            ),
            example(
                "Other chunks in the same place",
                "zarrox rechunk sea.zarr/depth --chunks 20,20 --in-place",
            ),
        ],
    ),
    (
        "reshard",
        &[example(
            "Put the chunks of an array into shards",
            "zarrox reshard sea.zarr/depth sharded.zarr --shards=-1,-1",
        )],
    ),
    (
        "downsample",
        &[
            example(
                "The plan of smaller levels beside an array",
                "zarrox downsample sea.zarr/depth --dry-run",
            ),
            example(
                "A new image of OME-Zarr with two smaller levels",
                "zarrox downsample sea.zarr/depth image.zarr --unit meter --levels 2",
            ),
        ],
    ),
    (
        "convert",
        &[
            example("Print the plan of a conversion", "zarrox convert old.zarr new.zarr --to v3 --dry-run"),
            example("Copy it into v3", "zarrox convert old.zarr new.zarr --to v3"),
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
            example("Whether everything can be read", "zarrox check sea.zarr"),
            example("The work of a repair, without doing it", "zarrox check sea.zarr --repair --dry-run"),
        ],
    ),
    (
        "validate-ome",
        &[example(
            "Whether an image is as OME-Zarr demands",
            "zarrox downsample sea.zarr/depth image.zarr && zarrox validate-ome image.zarr",
        )],
    ),
    (
        "diff",
        &[
            example(
                "Whether two hierarchies are the same",
                "zarrox cp sea.zarr copy.zarr && zarrox diff sea.zarr copy.zarr",
            ),
            example(
                "How many values differ by more than a tenth, without the values",
                "zarrox diff --atol 0.1 --stat sea.zarr/depth copy.zarr/depth",
            ),
        ],
    ),
    (
        "digest",
        &[
            example("A hash that is the same in every format", "zarrox digest sea.zarr"),
            example("Of two places, to be compared", "zarrox digest old.zarr sea.zarr"),
        ],
    ),
    (
        "manifest",
        &[example("What is stored of a hierarchy", "zarrox manifest write sea.zarr -o sea.manifest")],
    ),
    (
        "manifest write",
        &[example("What is stored of a hierarchy", "zarrox manifest write sea.zarr -o sea.manifest")],
    ),
    (
        "manifest verify",
        &[example(
            "Whether a copy has all that the original has",
            "zarrox manifest write sea.zarr | zarrox manifest verify sea.zarr -",
        )],
    ),
    (
        "dump",
        &[
            example("Print some elements of the last row", "zarrox dump 'sea.zarr/depth[-1, ::10]'"),
            example("Print all elements for a spreadsheet", "zarrox dump sea.zarr/depth --csv > depth.csv"),
            example("Print arrays of a group side by side", "zarrox dump sea.zarr --columns wind,wind"),
        ],
    ),
    ("attrs", &[example("All attributes", "zarrox attrs get sea.zarr/depth")]),
    (
        "attrs get",
        &[
            example("All attributes", "zarrox attrs get sea.zarr/depth"),
            example("One of them", "zarrox attrs get sea.zarr/depth units"),
        ],
    ),
    (
        "attrs set",
        &[
            example("Set a text", "zarrox attrs set sea.zarr/depth units fathoms --string"),
            example(
                "Set any other value, as JSON",
                "zarrox attrs set sea.zarr/depth valid_range '[-11000, 9000]'",
            ),
        ],
    ),
    ("attrs edit", &[example("With any editor", "EDITOR=true zarrox attrs edit sea.zarr/depth")]),
    (
        "attrs cp",
        &[example("One attribute to another array", "zarrox attrs cp sea.zarr/depth sea.zarr/wind units")],
    ),
    (
        "attrs diff",
        &[example("Nothing is printed if all are the same", "zarrox attrs diff sea.zarr old.zarr")],
    ),
    (
        "find",
        &[
            example(
                "Arrays of a type whose name fits a pattern",
                "zarrox find sea.zarr --name 'd*' --dtype int16",
            ),
            example("Nodes with an attribute", "zarrox find sea.zarr --attr units=m"),
        ],
    ),
    ("meta", &[example("The documents of an array as they are stored", "zarrox meta show old.zarr/depth")]),
    (
        "meta show",
        &[example("The documents of an array as they are stored", "zarrox meta show old.zarr/depth")],
    ),
    ("meta fix", &[example("The lines that would change", "zarrox meta fix --dry-run sea.zarr")]),
    ("meta validate", &[example("Whether all documents are valid", "zarrox meta validate sea.zarr")]),
    (
        "set",
        &[
            example("One element", "zarrox set 'sea.zarr/depth[0, 3]' -- -7"),
            example("A row of three", "zarrox set 'sea.zarr/depth[0, :3]' '[1, 2, 3]'"),
        ],
    ),
    ("fill", &[example("All elements of a part", "zarrox fill 'sea.zarr/depth[:10]' 5")]),
    ("resize", &[example("More rows", "zarrox resize sea.zarr/depth 60,-1")]),
    ("rename-dim", &[example("In all arrays of a group", "zarrox rename-dim sea.zarr lat latitude")]),
    ("attrs rm", &[example("One attribute", "zarrox attrs rm sea.zarr/depth units")]),
    ("rm", &[example("Delete an array and a whole hierarchy", "zarrox rm --force sea.zarr/depth old.zarr")]),
    (
        "mv",
        &[
            example("Another name", "zarrox mv sea.zarr/depth sea.zarr/deep"),
            example("Replace an existing node", "zarrox mv --force sea.zarr/deep sea.zarr/wind"),
            example("Move an array into an archive", "zarrox mv sea.zarr/wind wind.zip"),
        ],
    ),
    ("storage", &[example("List the options of each kind of store", "zarrox storage")]),
    ("completions", &[example("For this bash", "zarrox completions bash > zarrox.bash && . ./zarrox.bash")]),
    (
        "man",
        &[
            example("The main page", "zarrox man"),
            example("Write the pages of all commands for man -M", "zarrox man share/man1"),
        ],
    ),
    (
        "demo",
        &[
            example("Show the main work on temporary data", "zarrox demo"),
            example("Show the main work and keep the data", "zarrox demo hills"),
        ],
    ),
];

/// The examples of a command that is called by these words.
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

/// Adds examples to the end of the help of a command and its subcommands.
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
