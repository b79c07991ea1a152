//! `zarrox export`: arrays as files of NumPy's, or as nothing but their bytes.

use std::io::Write;
use std::path::Path;

use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use zarrox::data_type::{ByteOrder, Endian};
use zarrox::{Array, Node, Result, Selection};

use crate::args::{ByteSize, Global};
use crate::exit::{Failure, usage};
use crate::files::Output;
use crate::npy::Header;
use crate::part::Part;
use crate::strings::{self, Strings};
use crate::window::{Window, memory_size};
use crate::{interrupt, npz, progress};

/// Write an array, or all arrays of a group, to a file
///
/// Elements are written in C order and in the machine's own byte order, block by block: arrays may be larger than
/// memory. Strings of variable length are written with the length of the longest, and are read twice for that. Integers of
/// 2 or 4 bits are written as 8-bit integers.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The array, or a part of it: 'a.zarr/t2m[-1, ::90, ...]'; for .npz also a group
    path: String,

    /// The file, or - for the standard output
    out: String,

    #[command(flatten)]
    part: Part,

    /// The kind of file [default: what OUT ends in; npy for the standard output]
    #[arg(long, value_name = "KIND")]
    to: Option<Kind>,

    /// Compress the arrays in an .npz file
    #[arg(long)]
    compress: bool,

    /// Replace the file if there is one already
    #[arg(long)]
    force: bool,

    /// Take about so much memory
    #[arg(long, value_name = "SIZE", default_value = "512MiB")]
    memory: ByteSize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// An array with its shape and data type
    Npy,
    /// A ZIP archive of such arrays
    Npz,
    /// Nothing but the elements
    Raw,
}

impl Export {
    pub(crate) fn run(&self, global: &Global, stdout: &mut dyn Write) -> Result<(), Failure> {
        interrupt::catch();
        let kind = self.kind()?;
        if self.compress && kind != Kind::Npz {
            return Err(usage("--compress is for .npz files").into());
        }
        let (path, selection) = self.part.target(&self.path)?;
        if kind == Kind::Npz {
            return self.write_npz(global.read(&path)?, &selection);
        }
        let array = global.read_array(&path)?;
        let window = Window::new(&array, &selection, &self.part.fields)?;
        if self.out == "-" {
            return self.write_array(&window, kind, stdout);
        }
        let mut file = Output::create(Path::new(&self.out), self.force)?;
        self.write_array(&window, kind, &mut file)?;
        Ok(file.finish()?)
    }

    fn kind(&self) -> Result<Kind> {
        let extension = Path::new(&self.out).extension().and_then(|extension| extension.to_str());
        match (self.to, extension) {
            (Some(Kind::Npz), _) if self.out == "-" => Err(usage(".npz files cannot be written to a stream")),
            (Some(kind), _) => Ok(kind),
            (None, _) if self.out == "-" => Ok(Kind::Npy),
            (None, Some("npy")) => Ok(Kind::Npy),
            (None, Some("npz")) => Ok(Kind::Npz),
            (None, Some("raw" | "bin")) => Ok(Kind::Raw),
            (None, _) => {
                Err(usage(format!("what '{}' should be is not clear; say --to npy, npz or raw", self.out)))
            }
        }
    }

    fn write_array(&self, window: &Window<'_>, kind: Kind, out: &mut dyn Write) -> Result<(), Failure> {
        let bar = progress::bar(&self.out, window.bytes());
        if kind == Kind::Npy {
            self.write_npy(window, out, &bar)?;
        } else {
            strings::refuse_raw(window)?;
            self.write_elements(window, None, out, &bar)?;
        }
        bar.finish_and_clear();
        Ok(())
    }

    fn write_npy(&self, window: &Window<'_>, out: &mut dyn Write, bar: &ProgressBar) -> Result<(), Failure> {
        let strings = Strings::measure(window, self.memory.0)?;
        let header = Header {
            data_type: strings.as_ref().map_or(window.data_type(), Strings::data_type).clone(),
            order: ByteOrder::One(Endian::NATIVE),
            column_major: false,
            shape: window.shape(),
        };
        out.write_all(&header.to_bytes().map_err(|error| window.place(error))?)?;
        self.write_elements(window, strings.as_ref(), out, bar)
    }

    fn write_elements(
        &self,
        window: &Window<'_>,
        strings: Option<&Strings>,
        out: &mut dyn Write,
        bar: &ProgressBar,
    ) -> Result<(), Failure> {
        let item = memory_size(window.data_type()) as u64;
        for block in window.slabs(self.memory.0) {
            interrupt::check()?;
            let elements = window.read(&block)?;
            match strings {
                Some(strings) => strings.write(&elements, out)?,
                None => out.write_all(elements.as_bytes())?,
            }
            bar.inc(item.saturating_mul(elements.shape().iter().product::<usize>() as u64));
        }
        Ok(())
    }

    fn write_npz(&self, node: Node, selection: &Selection) -> Result<(), Failure> {
        let arrays = named_arrays(node)?;
        let windows =
            arrays.iter().map(|(name, array)| Ok((name, Window::new(array, selection, &self.part.fields)?)));
        let windows = windows.collect::<Result<Vec<_>>>()?;
        let total = windows.iter().fold(0_u64, |total, (_, window)| total.saturating_add(window.bytes()));
        let bar = progress::bar(&self.out, total);
        let mut archive = npz::Writer::new(Output::create(Path::new(&self.out), self.force)?, self.compress);
        for (name, window) in &windows {
            self.write_npy(window, archive.start(name)?, &bar)?;
        }
        bar.finish_and_clear();
        Ok(archive.finish()?.finish()?)
    }
}

/// An array, or all arrays below a group by their paths. One that cannot be opened is an error: an archive should
/// not lack what the group has.
fn named_arrays(node: Node) -> Result<Vec<(String, Array)>> {
    let group = match node {
        Node::Group(group) => group,
        Node::Array(array) => {
            let name = array.path().name();
            // NumPy's own name for an array that has none.
            let name = if name.is_empty() { "arr_0" } else { name }.to_owned();
            return Ok(vec![(name, array)]);
        }
    };
    let mut arrays = Vec::new();
    group.visit(&mut |path, node| {
        match node {
            Ok(Node::Array(array)) => arrays.push((path.to_owned(), array.clone())),
            Ok(Node::Group(_)) => {}
            Err(error) => return Err(zarrox::Error::new(error.kind(), error.to_string()).at(path)),
        }
        Ok(())
    })?;
    if arrays.is_empty() {
        return Err(usage(format!("there are no arrays below '{}' to export", group.path())));
    }
    Ok(arrays)
}
