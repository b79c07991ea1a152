//! Arguments that several commands share.

use std::fmt;
use std::str::FromStr;

use clap::Args;
use zarrox::stores::internals::FOLLOW_LINKS;
use zarrox::{
    Array, ChunkLengths, ChunkShape, Durability, ErrorKind, Format, Node, OpenMode, OpenOptions, Rectilinear,
    Result, Strictness, Upkeep, json,
};

use crate::exit::usage;
use crate::names::listed;
use crate::opening::{self, Content};
use crate::suggest::{self, suggesting};

/// The options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// The number of threads [default: one for each core]
    #[arg(long, global = true, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,

    /// Open only nodes of this format, and create nodes in it: v3, v2, v1, n5, v3-experimental or v3-draft [default: any; a new
    /// node has the format of the group above it, otherwise n5 in a directory *.n5, and v3 everywhere else]
    #[arg(long, global = true, hide_possible_values = true)]
    #[arg(value_parser = suggesting(suggest::parsed::<Format>, suggest::formats))]
    format: Option<Format>,

    /// Refuse documents that the specifications do not allow, such as the variants of other writers
    #[arg(long, global = true)]
    strict: bool,

    /// Read an unknown data type as the known type that the metadata names as its fallback
    #[arg(long, global = true)]
    data_type_fallback: bool,

    /// Set an option of the store of a URL, such as `endpoint=http://127.0.0.1:9000`. `zarrox storage` lists all options. Prefer
    /// environment variables for secrets
    #[arg(long, global = true, value_name = "NAME=VALUE", value_parser = pair)]
    storage: Vec<(String, String)>,

    /// Do not update consolidated metadata after a change
    #[arg(long, global = true)]
    no_consolidate: bool,

    /// Follow symbolic links that lead out of the directory of a hierarchy; use it only for directories that only trusted users
    /// can write to
    #[arg(long, global = true)]
    follow_links: bool,

    /// Flush everything that is written to the disk, so that it survives a power failure; writing takes longer
    #[arg(long, global = true)]
    pub(crate) sync: bool,

    /// Show no progress and no notes
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Do not show long output in the pager (PAGER, or less by default)
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,

    /// Print a debug log to the standard error; repeat the option to print a trace log
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

impl Global {
    /// Returns the options for opening nodes for writing.
    pub(crate) fn options(&self) -> OpenOptions {
        let options = OpenOptions::new().threads(self.threads).strict(self.strict);
        let options = options.data_type_fallback(self.data_type_fallback);
        let options = self.format.into_iter().fold(options, OpenOptions::format);
        let upkeep = if self.no_consolidate { Upkeep::Leave } else { Upkeep::Update };
        let options = options.consolidated_upkeep(upkeep);
        let options = match self.follow_links {
            true => options.storage_option(FOLLOW_LINKS, "true"),
            false => options,
        };
        let options = if self.sync { options.durability(Durability::Disk) } else { options };
        self.storage.iter().fold(options, |options, (name, value)| options.storage_option(name, value))
    }

    /// Returns the format of new nodes, if one is given.
    pub(crate) fn format(&self) -> Option<Format> {
        self.format
    }

    /// Returns these options without the restriction to a format.
    pub(crate) fn of_any_format(&self) -> Self {
        Self { format: None, ..self.clone() }
    }

    /// Opens a node for reading.
    pub(crate) fn read(&self, path: &str) -> Result<Node> {
        opening::open(&self.options().mode(OpenMode::Read), path)
    }

    /// Opens a node for a complete copy: reads each node's own documents instead of the consolidated metadata.
    pub(crate) fn read_whole(&self, path: &str) -> Result<Node> {
        self.read(path)?.by_own_documents()
    }

    /// Returns the options for changing only metadata.
    pub(crate) fn without_elements(&self) -> OpenOptions {
        self.options().metadata_only(true).chunk_limit(usize::MAX)
    }

    /// Returns the options for reading only metadata.
    fn looking(&self) -> OpenOptions {
        self.without_elements().mode(OpenMode::Read)
    }

    /// Returns the paths, with patterns replaced by the nodes that match them.
    pub(crate) fn expanded(&self, paths: &[String]) -> Result<Vec<String>> {
        opening::expanded(&self.looking(), paths)
    }

    /// Opens a node to show its metadata.
    pub(crate) fn look(&self, path: &str) -> Result<Node> {
        opening::open(&self.looking(), path)
    }

    /// Opens a node to show its metadata, or lists the hierarchies in a directory or bucket that is not a node.
    pub(crate) fn content(&self, path: &str) -> Result<Content> {
        match self.look(path) {
            Ok(Node::Array(array)) => Ok(Content::Array(Box::new(array))),
            Ok(Node::Group(group)) => Ok(Content::Group(Box::new(group))),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                match opening::hierarchies(&self.looking(), path) {
                    Ok(children) if !children.is_empty() => Ok(Content::Hierarchies(children)),
                    _ => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Opens an array for reading. If the path is a group, the error names its arrays.
    pub(crate) fn read_array(&self, path: &str) -> Result<Array> {
        match self.read(path)? {
            Node::Array(array) => Ok(array),
            Node::Group(group) => {
                let names = group.arrays()?;
                let names: Vec<String> = names.iter().map(|array| array.path().name().to_owned()).collect();
                let names = listed(&names, "it has no arrays directly below");
                Err(usage(format!("'{path}' is a group, not an array; name one of its arrays ({names})")))
            }
        }
    }
}

/// Parses a name and a value. Errors do not repeat the value, since it may be secret.
fn pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((pair.0.to_owned(), pair.1.to_owned()))
}

/// A shape, such as `10,20`; empty for an array without dimensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lengths(pub(crate) Vec<u64>);

impl FromStr for Lengths {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        items(text, |item| item.parse().ok()).map(Self)
    }
}

/// A shape in which one length may be `-1`, such as `-1,4,5`. This length is computed from the number of elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenLengths(pub(crate) Vec<Option<u64>>);

impl FromStr for OpenLengths {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lengths = items(text, |item| match item {
            "-1" => Some(None),
            length => length.parse().ok().map(Some),
        })?;
        let open = lengths.iter().filter(|length| length.is_none()).count();
        if open > 1 { Err("only one length can be -1".to_owned()) } else { Ok(Self(lengths)) }
    }
}

/// Parses comma-separated items; parentheses around the list are optional.
fn items<T>(text: &str, length: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, String> {
    let inner = text.trim();
    let inner = inner.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(inner);
    let inner = inner.strip_suffix(',').unwrap_or(inner);
    if inner.trim().is_empty() {
        return Ok(Vec::new());
    }
    let length = |item: &str| length(item.trim()).ok_or_else(|| format!("'{item}' is not a length"));
    inner.split(',').map(length).collect()
}

/// The chunks of a new array: a shape in which `-1` stands for the whole dimension; `auto`; `false`; or, in JSON, the chunk
/// lengths of a rectilinear grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Chunks {
    /// Chunks that all have the same shape.
    Shape(ChunkShape),
    /// Chunks of several lengths in each dimension.
    Rectilinear(Vec<ChunkLengths>),
    /// Lengths by dimension name; `None` for the whole dimension.
    Named(NamedLengths),
}

/// Lengths by dimension name.
pub(crate) type NamedLengths = Vec<(String, Option<u64>)>;

impl FromStr for Chunks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "auto" | "true" => return Ok(Self::Shape(ChunkShape::Guess)),
            "false" => return Ok(Self::Shape(ChunkShape::One)),
            json if json.starts_with('[') => {
                let json = json::parse(json.as_bytes()).map_err(|error| error.to_string())?;
                let lengths = Rectilinear::lengths_from_json(&json, Strictness::Strict);
                return lengths.map(Self::Rectilinear).map_err(|error| error.to_string());
            }
            names if names.contains('=') => return named(names).map(Self::Named),
            _ => {}
        }
        let lengths = items(text, |item| match item {
            "-1" | "None" => Some(None),
            length => length.parse().ok().map(Some),
        })?;
        Ok(Self::Shape(ChunkShape::Lengths(lengths)))
    }
}

/// Parses lengths by dimension name: `time=10,lat=-1`.
fn named(text: &str) -> Result<NamedLengths, String> {
    let one = |item: &str| {
        let (name, length) = item.rsplit_once('=').ok_or_else(|| format!("'{item}' is not NAME=LENGTH"))?;
        let length = match length.trim() {
            "-1" => None,
            length => {
                let length = length.parse().ok().filter(|&length: &u64| length > 0);
                Some(length.ok_or_else(|| format!("'{item}' has no length"))?)
            }
        };
        Ok((name.trim().to_owned(), length))
    };
    text.split(',').map(one).collect()
}

/// A number of bytes: `1000`, `64KiB`, `2GiB`, `1.5GB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ByteSize(pub(crate) u64);

impl FromStr for ByteSize {
    type Err = String;

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and the value is at least 1"
    )]
    fn from_str(text: &str) -> Result<Self, String> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let factor = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 1.0,
            "k" | "kib" => 1024.0,
            "m" | "mib" => 1048576.0,
            "g" | "gib" => 1073741824.0,
            "kb" => 1e3,
            "mb" => 1e6,
            "gb" => 1e9,
            _ => return Err(format!("'{unit}' is not a unit of bytes; use KiB, MiB or GiB")),
        };
        let bytes = number.parse::<f64>().map_err(|_| format!("'{text}' is not a number of bytes"))? * factor;
        if bytes < 1.0 {
            Err("the size must be at least one byte".to_owned())
        } else {
            Ok(Self(bytes as u64))
        }
    }
}

/// Prints the size, rounded up to a number that the text represents exactly.
impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.div_ceil(1 << 20) {
            0 | 1 => write!(f, "{}KiB", self.0.div_ceil(1 << 10)),
            mebibytes => write!(f, "{mebibytes}MiB"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_with_and_without_parentheses() {
        let lengths = |text: &str| text.parse::<Lengths>().map(|lengths| lengths.0);
        assert_eq!(lengths("10,20"), Ok(vec![10, 20]));
        assert_eq!(lengths("(10, 20)"), Ok(vec![10, 20]));
        assert_eq!(lengths("(7,)"), Ok(vec![7]));
        assert_eq!(lengths(""), Ok(vec![]));
        assert_eq!(lengths("()"), Ok(vec![]));
        for bad in ["-1", "1.5", "a", "1,,2", "(1"] {
            assert!(lengths(bad).is_err(), "{bad}");
        }
        let open = |text: &str| text.parse::<OpenLengths>().map(|lengths| lengths.0);
        assert_eq!(open("-1, 4"), Ok(vec![None, Some(4)]));
        assert!(open("-1,-1").is_err() && open("-2").is_err());
    }

    #[test]
    fn chunks_are_lengths_or_a_word_or_lists() {
        let chunks = |text: &str| text.parse::<Chunks>().map_err(drop);
        assert_eq!(chunks("auto"), Ok(Chunks::Shape(ChunkShape::Guess)));
        assert_eq!(chunks("false"), Ok(Chunks::Shape(ChunkShape::One)));
        assert_eq!(chunks("(-1, 100)"), Ok(Chunks::Shape([None, Some(100)].into())));
        assert_eq!(chunks("10,20"), Ok(Chunks::Shape([10, 20].into())));
        let lists = vec![ChunkLengths::from([3, 3, 4]), ChunkLengths::from(5)];
        assert_eq!(chunks("[[[3, 2], 4], 5]"), Ok(Chunks::Rectilinear(lists)));
        let names = vec![("time".to_owned(), Some(10)), ("lat".to_owned(), None)];
        assert_eq!(chunks("time=10,lat=-1"), Ok(Chunks::Named(names)));
        for bad in ["-2", "1.5", "none", "[[1, -1]]", "[1", "1,,2", "a=0", "a=1,2", "a=x"] {
            assert!(chunks(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_are_read_with_their_units() {
        let size = |text: &str| text.parse::<ByteSize>().map(|size| size.0);
        assert_eq!(size("1000"), Ok(1000));
        assert_eq!(size("64KiB"), Ok(65536));
        assert_eq!(size("1.5 GB"), Ok(1_500_000_000));
        assert_eq!([1, 1 << 20, (1 << 20) + 1].map(|n| ByteSize(n).to_string()), ["1KiB", "1024KiB", "2MiB"]);
        for bad in ["", "0", "x", "1x", "-1", "1.2.3"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
