//! [`Stack`]: a directory of images, one for each position along the first dimension of an array.

mod encode;
mod kind;
mod names;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use tempfile::TempDir;
use zarrox::stores::internals::flush_name;
use zarrox::{DimSelection, DynArray, Error, ErrorKind, IntoSelection, Node, Result};

use crate::input::{failed, unsupported};
use crate::picture::Picture;
use crate::placed::Placed;
use crate::tiff::write::{self as tiff, Compression};
use encode::Pixels;

pub use kind::StackKind;
pub use names::Names;

/// A function that is called with the number of elements written since its last call.
type Listener = Arc<dyn Fn(u64) -> Result<()> + Send + Sync>;

/// A builder for stacks: images of an array, one for each position along its first dimension.
///
/// ```
/// use zarrox::prelude::*;
/// use zarrox_files::{Names, Stack, StackKind};
/// # let directory = tempfile::tempdir()?;
/// let array = zarrox::create_array(directory.path().join("a.zarr")).shape([3, 4, 5]).data_type(DataType::UInt8).create()?;
///
/// let names = Names::in_directory(directory.path().join("slices"), "png");
/// assert_eq!(Stack::new(StackKind::Png).write(&Node::Array(array), &names)?, 3);
/// assert!(directory.path().join("slices/0002.png").is_file());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Stack {
    kind: StackKind,
    selection: zarrox::Selection,
    picture: Option<Picture>,
    compression: Compression,
    memory: u64,
    overwrite: bool,
    sync: bool,
    listener: Option<Listener>,
}

impl std::fmt::Debug for Stack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { kind, selection, picture, .. } = self;
        f.debug_struct("Stack")
            .field("kind", kind)
            .field("selection", selection)
            .field("picture", picture)
            .finish_non_exhaustive()
    }
}

impl Stack {
    /// Creates a stack of images in the given format.
    pub fn new(kind: StackKind) -> Self {
        Self {
            kind,
            selection: zarrox::Selection::all(),
            picture: None,
            compression: Compression::default(),
            memory: 1 << 29,
            overwrite: false,
            sync: false,
            listener: None,
        }
    }

    /// Selects a part of the array.
    pub fn select(self, selection: impl IntoSelection) -> Self {
        Self { selection: selection.into_selection(), ..self }
    }

    /// Sets the colormap of PNG images. All images have the same contrast limits.
    pub fn picture(self, picture: Picture) -> Self {
        Self { picture: Some(picture), ..self }
    }

    /// Sets the TIFF compression. The default is deflate.
    pub fn compression(self, compression: Compression) -> Self {
        Self { compression, ..self }
    }

    /// Sets the memory limit for elements, in bytes. The default is 512 MiB. At least one image is always held in memory.
    pub fn memory(self, bytes: u64) -> Self {
        Self { memory: bytes, ..self }
    }

    /// Sets whether existing files are replaced.
    pub fn overwrite(self, overwrite: bool) -> Self {
        Self { overwrite, ..self }
    }

    /// Sets whether the images and their directory entries are flushed to disk, so that they survive a power failure. The
    /// default is `false`.
    pub fn sync(self, sync: bool) -> Self {
        Self { sync, ..self }
    }

    /// Sets a function that is called, from any thread, with the number of elements processed since its last call. An
    /// error stops the export.
    pub fn on_progress(self, listener: impl Fn(u64) -> Result<()> + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..self }
    }

    /// Writes the images, moves them to their final names once all are complete, and returns their number.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] if a file exists and may not be replaced; [`ErrorKind::Unsupported`] if the image
    /// format does not support the data type; any error that occurs while reading or writing.
    pub fn write(&self, node: &Node, names: &Names) -> Result<u64> {
        let placed = Placed::new(node, &self.selection)?;
        let shape: Vec<u64> = placed.result().map(|axis| axis.count).collect();
        let Some(&count) = shape.first().filter(|_| matches!(shape.len(), 3 | 4)) else {
            let message = format!(
                "a stack needs three dimensions, or four with channels; the selection has the shape {shape:?}"
            );
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        };
        let has_channels = placed.result().nth(3).is_none_or(|axis| axis.name.is_none() || axis.is_samples());
        if !has_channels && self.kind != StackKind::Tiff {
            let message = format!(
                "an image has two dimensions, but the last of the shape {shape:?} is not named as channels; select single positions of a dimension"
            );
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        if shape.contains(&0) {
            return Err(unsupported(format!(
                "an image must have elements; the selection has the shape {shape:?}"
            )));
        }
        let place = StackDirectory::prepare(names, count, self.overwrite)?;
        let temporary = place.path().to_owned();
        let path = |number: u64| temporary.join(names.name(number, count));
        match (self.kind, &self.picture) {
            (StackKind::Png, Some(picture)) => self.draw(&placed, picture, &path)?,
            (StackKind::Tiff, None) => self.write_tiffs(&placed, &path)?,
            (_, Some(_)) => {
                return Err(unsupported("a colormap needs PNG, not JPEG or TIFF"));
            }
            (StackKind::Png | StackKind::Jpeg, None) => self.write_pixels(&placed, &path)?,
        }
        let directory = names.directory().to_owned();
        place.finish(names, count)?;
        if self.sync {
            // The directory entries of the images and of the directory itself are flushed.
            flush_name(&directory.join(names.name(0, count)))
                .map_err(|error| failed(&format!("flushing '{}'", directory.display()), error))?;
        }
        Ok(count)
    }

    fn tell(&self, elements: u64) -> Result<()> {
        self.listener.as_ref().map_or(Ok(()), |listener| listener(elements))
    }

    /// Writes images whose pixels are the elements.
    fn write_pixels(&self, placed: &Placed, path: &(dyn Fn(u64) -> PathBuf + Sync)) -> Result<()> {
        let pixels = Pixels::of(placed, self.kind)?;
        let view = placed.array.slice(&placed.selection);
        let of_chunk = placed.array.unit_shape();
        let chunk = placed
            .axes
            .iter()
            .zip(of_chunk)
            .find(|(axis, _)| !axis.is_dropped)
            .map_or(1, |(axis, chunk)| chunk.div_ceil(axis.step.unsigned_abs().max(1)).max(1));
        let threads = rayon::current_num_threads() as u64;
        // A batch covers whole chunks and contains enough images for all threads.
        let most = (self.memory / 3 / pixels.size().max(1)).max(1);
        let step = chunk.max(threads.next_multiple_of(chunk)).min(most);
        let count = placed.result().next().map_or(0, |axis| axis.count);
        for start in (0..count).step_by(usize::try_from(step).unwrap_or(usize::MAX)) {
            let end = (start + step).min(count);
            let elements = view
                .slice(vec![DimSelection::from(start..end), DimSelection::Ellipsis])
                .read::<DynArray>()?;
            let images = usize::try_from(pixels.size()).unwrap_or(usize::MAX).max(1);
            elements.as_bytes().par_chunks(images).enumerate().try_for_each(|(number, bytes)| {
                self.create(&path(start + number as u64), |out| pixels.encode(bytes, out))?;
                self.tell(pixels.elements())
            })?;
        }
        Ok(())
    }

    /// Writes TIFF images.
    fn write_tiffs(&self, placed: &Placed, path: &(dyn Fn(u64) -> PathBuf + Sync)) -> Result<()> {
        let node = Node::Array(placed.array.clone());
        let count = placed.result().next().map_or(0, |axis| axis.count);
        let threads = rayon::current_num_threads().max(1) as u64;
        let options = tiff::Options {
            is_ome: false,
            compression: self.compression,
            memory: self.memory / threads,
            progress: &|elements| self.tell(elements),
        };
        (0..count).into_par_iter().try_for_each(|number| {
            self.create(&path(number), |out| tiff::write(&node, &placed.at(number), out, &options))
        })
    }

    /// Writes pictures that are coloured with a colormap.
    fn draw(&self, placed: &Placed, picture: &Picture, path: &(dyn Fn(u64) -> PathBuf + Sync)) -> Result<()> {
        let view = placed.array.slice(&placed.selection);
        let picture =
            picture.clone().memory(self.memory / rayon::current_num_threads().max(1) as u64).fixed(&view)?;
        let count = placed.result().next().map_or(0, |axis| axis.count);
        let of_one = placed.result().skip(1).map(|axis| axis.count).product();
        (0..count).into_par_iter().try_for_each(|number| {
            self.create(&path(number), |out| picture.write(&placed.array.slice(placed.at(number)), out))?;
            self.tell(of_one)
        })
    }

    /// Creates the file of an image.
    fn create(
        &self,
        path: &Path,
        write: impl FnOnce(&mut std::io::BufWriter<fs::File>) -> Result<()>,
    ) -> Result<()> {
        use std::io::Write as _;

        let creating = |error| failed(&format!("creating '{}'", path.display()), error);
        let mut out =
            std::io::BufWriter::with_capacity(1 << 18, fs::File::create_new(path).map_err(creating)?);
        write(&mut out)?;
        out.flush().map_err(creating)?;
        if self.sync { out.get_ref().sync_all().map_err(creating) } else { Ok(()) }
    }
}

/// The directory of a stack, and a temporary directory inside or next to it, which holds the images until all of them are
/// complete.
struct StackDirectory {
    /// The temporary directory; `None` after it has been renamed.
    temporary: Option<TempDir>,
    /// The created ancestors of the temporary directory, innermost first.
    created: Vec<PathBuf>,
    /// True if the directory of the stack already existed.
    exists: bool,
    overwrite: bool,
}

impl StackDirectory {
    fn prepare(names: &Names, count: u64, overwrite: bool) -> Result<Self> {
        let directory = names.directory();
        let creating = |error| failed(&format!("creating '{}'", directory.display()), error);
        let exists = directory.is_dir();
        if exists && !overwrite {
            let all: BTreeSet<String> = (0..count).map(|number| names.name(number, count)).collect();
            for entry in fs::read_dir(directory).map_err(creating)? {
                let name = entry.map_err(creating)?.file_name();
                if name.to_str().is_some_and(|name| all.contains(name)) {
                    return Err(there_is(&directory.join(name)));
                }
            }
        }
        let above =
            directory.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let beside = if exists { directory } else { above };
        let created = beside.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists());
        let mut place =
            Self { temporary: None, created: created.map(Path::to_owned).collect(), exists, overwrite };
        fs::create_dir_all(beside).map_err(creating)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".zarrox-").suffix(".tmp");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        place.temporary = Some(builder.tempdir_in(beside).map_err(creating)?);
        Ok(place)
    }

    /// Returns the path of the temporary directory.
    fn path(&self) -> &Path {
        self.temporary.as_ref().map_or(Path::new(""), TempDir::path)
    }

    /// Moves the images to their final location.
    fn finish(mut self, names: &Names, count: u64) -> Result<()> {
        let directory = names.directory();
        let naming = |error| failed(&format!("creating '{}'", directory.display()), error);
        if !self.exists {
            fs::rename(self.path(), directory).map_err(naming)?;
            // There is nothing left to remove.
            self.temporary.take().map(TempDir::keep);
            return Ok(());
        }
        for number in 0..count {
            let name = names.name(number, count);
            let path = directory.join(&name);
            if !self.overwrite && path.exists() {
                return Err(there_is(&path));
            }
            fs::rename(self.path().join(name), path).map_err(naming)?;
        }
        Ok(())
    }
}

impl Drop for StackDirectory {
    /// Removes the created directories that are empty.
    fn drop(&mut self) {
        drop(self.temporary.take());
        for directory in &self.created {
            let _ = fs::remove_dir(directory);
        }
    }
}

fn there_is(path: &Path) -> Error {
    Error::new(ErrorKind::AlreadyExists, format!("'{}' already exists", path.display()))
}
