//! Arrays and groups for programs with an asynchronous runtime: every method that waits returns a future.
//!
//! The engine is that of the blocking interface, and needs no runtime: it sends requests in parallel and decodes on its own
//! threads. This module submits work to the engine and awaits the result, on Tokio or any other executor, so that no thread of
//! the program is blocked.
//!
//! ```
//! use zarrox::asynchronous;
//! use zarrox::{prelude::*, s};
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("a.zarr");
//! # let a = zarrox::create_array(&path).shape([4, 6]).chunks([2, 6]).data_type(DataType::Int32).create()?;
//! # a.write(.., &ndarray::Array2::from_elem((4, 6), 7_i32))?;
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let array = asynchronous::open_array(path).await?;
//! let row: Array1<i32> = array.read(s![1, ..]).await?;
//! array.write(s![2, ..], row).await?;
//! let column = array.run(|array| array.slice(s![.., 0]).read::<Vec<i32>>()).await?;
//! # assert_eq!(column, [7; 4]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ops::Range;
use std::sync::Arc;

use futures_util::stream::{self, Stream};
use zarrox_core::json::Map;
use zarrox_core::{DataType, FromElement, FromElements, IntoElements, IntoSelection, Result};

use crate::{
    AccessOptions, Array, ArrayBuilder, Child, Chunks, Group, Interrupt, Node, OpenOptions, Place, Shape,
};

/// Runs work on a thread that may block, and returns its result.
///
/// Dropping the future does not stop the work, which runs to completion.
///
/// # Errors
/// The error of the work; [`ErrorKind::Unreachable`](crate::ErrorKind::Unreachable) when no thread can be started.
///
/// # Panics
/// When the work panics.
pub async fn run<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    zarrox_stores::internals::run_blocking(work).await?
}

/// Opens the node at a location. See [`crate::open`].
///
/// # Errors
/// The errors of [`crate::open`].
pub async fn open(place: impl Into<Place>) -> Result<Node> {
    let place = place.into();
    run(move || crate::open(place)).await
}

/// Creates a group at a location. See [`crate::create_group`].
///
/// # Errors
/// The errors of [`crate::create_group`].
pub async fn create_group(place: impl Into<Place>) -> Result<AsyncGroup> {
    OpenOptions::new().create_group_async(place).await
}

/// Returns a builder for an array at a location; [`ArrayBuilder::create_async`] creates it.
pub fn create_array(place: impl Into<Place>) -> ArrayBuilder {
    OpenOptions::new().create_array(place)
}

/// Opens the array at a location. See [`crate::open_array`].
///
/// # Errors
/// The errors of [`crate::open_array`].
pub async fn open_array(place: impl Into<Place>) -> Result<AsyncArray> {
    open(place).await?.into_array().map(AsyncArray::from)
}

/// Opens the group at a location. See [`crate::open_group`].
///
/// # Errors
/// The errors of [`crate::open_group`].
pub async fn open_group(place: impl Into<Place>) -> Result<AsyncGroup> {
    open(place).await?.into_group().map(AsyncGroup::from)
}

/// Asynchronous methods that open and create nodes with options: the counterparts of the methods without `_async`.
impl OpenOptions {
    /// Opens the node at a location. See [`open`](Self::open).
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub async fn open_async(&self, place: impl Into<Place>) -> Result<Node> {
        let (options, place) = (self.clone(), place.into());
        run(move || options.open(place)).await
    }

    /// Opens the array at a location. See [`open_array`](Self::open_array).
    ///
    /// # Errors
    /// The errors of [`open_array`](Self::open_array).
    pub async fn open_array_async(&self, place: impl Into<Place>) -> Result<AsyncArray> {
        self.open_async(place).await?.into_array().map(AsyncArray::from)
    }

    /// Opens the group at a location. See [`open_group`](Self::open_group).
    ///
    /// # Errors
    /// The errors of [`open_group`](Self::open_group).
    pub async fn open_group_async(&self, place: impl Into<Place>) -> Result<AsyncGroup> {
        self.open_async(place).await?.into_group().map(AsyncGroup::from)
    }

    /// Creates a group at a location. See [`create_group`](Self::create_group).
    ///
    /// # Errors
    /// The errors of [`create_group`](Self::create_group).
    pub async fn create_group_async(&self, place: impl Into<Place>) -> Result<AsyncGroup> {
        let (options, place) = (self.clone(), place.into());
        run(move || options.create_group(place)).await.map(AsyncGroup::from)
    }
}

impl ArrayBuilder {
    /// Creates the array. See [`create`](Self::create).
    ///
    /// # Errors
    /// The errors of [`create`](Self::create).
    pub async fn create_async(self) -> Result<AsyncArray> {
        run(move || self.create()).await.map(AsyncArray::from)
    }
}

/// An array whose methods return futures.
///
/// Dropping a future cancels its work: chunks in progress are finished, and no others are started.
#[derive(Debug, Clone)]
pub struct AsyncArray(Arc<Array>);

impl From<Array> for AsyncArray {
    fn from(array: Array) -> Self {
        Self(Arc::new(array))
    }
}

impl AsyncArray {
    /// Returns the array itself, for methods that need no access to the store. Methods that read or write block the calling
    /// thread.
    pub fn blocking(&self) -> &Array {
        &self.0
    }

    /// Returns the shape, in elements.
    pub fn shape(&self) -> &[u64] {
        self.0.shape()
    }

    /// Returns the data type.
    pub fn data_type(&self) -> &DataType {
        self.0.data_type()
    }

    /// Returns the user's attributes.
    pub fn attributes(&self) -> &Map {
        self.0.attributes()
    }

    /// Reads a selection. See [`Array::read`].
    ///
    /// # Errors
    /// The errors of [`Array::read`].
    pub async fn read<A: FromElements + Send + 'static>(&self, selection: impl IntoSelection) -> Result<A> {
        let selection = selection.into_selection();
        self.run(move |array| array.read(selection)).await
    }

    /// Reads one element. See [`Array::get`].
    ///
    /// # Errors
    /// The errors of [`Array::get`].
    pub async fn get<T: FromElement + Send + 'static>(&self, index: impl IntoSelection) -> Result<T> {
        let index = index.into_selection();
        self.run(move |array| array.get(index)).await
    }

    /// Writes elements. See [`Array::write`]. The values must be owned, or shared in an [`ArcArray`](ndarray::ArcArray), since
    /// the work may continue for a while after the future is dropped.
    ///
    /// # Errors
    /// The errors of [`Array::write`].
    pub async fn write(
        &self,
        selection: impl IntoSelection,
        values: impl IntoElements + Send + 'static,
    ) -> Result<()> {
        let selection = selection.into_selection();
        self.run(move |array| array.write(selection, values)).await
    }

    /// Appends values along an axis, and returns the new shape. See [`Array::append`]. Other handles, including clones of this
    /// one, keep the shape that they know.
    ///
    /// # Errors
    /// The errors of [`Array::append`].
    pub async fn append(
        &mut self,
        values: impl IntoElements + Send + 'static,
        axis: usize,
    ) -> Result<Vec<u64>> {
        self.change(move |array| array.append(values, axis)).await
    }

    /// Changes the shape. See [`Array::resize`].
    ///
    /// # Errors
    /// The errors of [`Array::resize`].
    pub async fn resize(&mut self, shape: impl Into<Shape>) -> Result<()> {
        let shape = shape.into();
        self.change(move |array| array.resize(shape)).await
    }

    /// Replaces all attributes. See [`Array::set_attributes`].
    ///
    /// # Errors
    /// The errors of [`Array::set_attributes`].
    pub async fn set_attributes(&mut self, attributes: impl Into<Map>) -> Result<()> {
        let attributes = attributes.into();
        self.change(move |array| array.set_attributes(attributes)).await
    }

    /// Changes attributes. See [`Array::update_attributes`].
    ///
    /// # Errors
    /// The errors of [`Array::update_attributes`].
    pub async fn update_attributes(&mut self, edit: impl FnMut(&mut Map) + Send + 'static) -> Result<()> {
        self.change(move |array| array.update_attributes(edit)).await
    }

    /// Reads the metadata again. See [`Array::reload`].
    ///
    /// # Errors
    /// The errors of [`Array::reload`].
    pub async fn reload(&mut self) -> Result<()> {
        self.change(Array::reload).await
    }

    /// Streams all chunks in row-major order, with their regions and elements. See [`Array::chunks`]. Each chunk is read when the
    /// stream reaches it.
    ///
    /// # Errors
    /// The errors of [`Array::chunks`].
    pub fn chunks<A: FromElements + Send + 'static>(
        &self,
    ) -> Result<impl Stream<Item = Result<(Vec<Range<u64>>, A)>> + Send + Unpin + use<A>> {
        let dropped = RaisedOnDrop(Interrupt::new());
        let chunks = self.interrupted_by(&dropped).chunks::<A>()?;
        Ok(Box::pin(stream::unfold((Some(chunks), dropped), next_chunk)))
    }

    /// Returns a handle to the array with other options for reading and writing.
    #[must_use]
    pub fn with_options(&self, options: &AccessOptions) -> Self {
        Self(Arc::new(self.0.with_options(options)))
    }

    /// Runs work with the array on a thread that may block.
    ///
    /// # Errors
    /// The error of the work.
    pub async fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Array) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let dropped = RaisedOnDrop(Interrupt::new());
        let array = self.interrupted_by(&dropped);
        run(move || work(&array)).await
    }

    /// Runs work that changes the metadata, and then updates the metadata of this handle.
    async fn change<R: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Array) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let dropped = RaisedOnDrop(Interrupt::new());
        let mut array = self.interrupted_by(&dropped);
        let done = run(move || {
            let result = work(&mut array);
            Ok((array, result))
        });
        let (array, result) = done.await?;
        self.0 = Arc::new(array.with_context_of(&self.0));
        result
    }

    /// Returns the array whose work a dropped future cancels, and the interrupt of the options.
    fn interrupted_by(&self, dropped: &RaisedOnDrop) -> Array {
        let interrupt = dropped.0.or(&self.0.location().context.interrupt);
        self.0.with_options(&AccessOptions::new().interrupt(&interrupt))
    }
}

/// Reads the next chunk of a stream.
async fn next_chunk<A: FromElements + Send + 'static>(
    (chunks, dropped): (Option<Chunks<A>>, RaisedOnDrop),
) -> Option<(Result<(Vec<Range<u64>>, A)>, (Option<Chunks<A>>, RaisedOnDrop))> {
    let mut chunks = chunks?;
    match run(move || Ok((chunks.next(), chunks))).await {
        Ok((item, chunks)) => Some((item?, (Some(chunks), dropped))),
        // No thread could be started, and the iterator was dropped with the work.
        Err(error) => Some((Err(error), (None, dropped))),
    }
}

/// A group whose methods return futures.
#[derive(Debug, Clone)]
pub struct AsyncGroup(Arc<Group>);

impl From<Group> for AsyncGroup {
    fn from(group: Group) -> Self {
        Self(Arc::new(group))
    }
}

impl AsyncGroup {
    /// Returns the group itself, for methods that need no access to the store.
    pub fn blocking(&self) -> &Group {
        &self.0
    }

    /// Returns the user's attributes.
    pub fn attributes(&self) -> &Map {
        self.0.attributes()
    }

    /// Opens the node at a path below this group. See [`Group::open`].
    ///
    /// # Errors
    /// The errors of [`Group::open`].
    pub async fn open(&self, path: impl Into<String>) -> Result<Node> {
        let path = path.into();
        self.run(move |group| group.open(&path)).await
    }

    /// Opens the array at a path below this group. See [`Group::open_array`].
    ///
    /// # Errors
    /// The errors of [`Group::open_array`].
    pub async fn open_array(&self, path: impl Into<String>) -> Result<AsyncArray> {
        self.open(path).await?.into_array().map(AsyncArray::from)
    }

    /// Opens the group at a path below this group. See [`Group::open_group`].
    ///
    /// # Errors
    /// The errors of [`Group::open_group`].
    pub async fn open_group(&self, path: impl Into<String>) -> Result<Self> {
        self.open(path).await?.into_group().map(Self::from)
    }

    /// Returns a builder for an array at a path below this group; [`ArrayBuilder::create_async`] creates it.
    pub fn create_array(&self, path: impl AsRef<str>) -> ArrayBuilder {
        self.0.create_array(path)
    }

    /// Creates a group at a path below this group. See [`Group::create_group`].
    ///
    /// # Errors
    /// The errors of [`Group::create_group`].
    pub async fn create_group(&self, path: impl Into<String>) -> Result<Self> {
        let path = path.into();
        self.run(move |group| group.create_group(&path)).await.map(Self::from)
    }

    /// Opens the group at a path below this group, or creates it. See [`Group::require_group`].
    ///
    /// # Errors
    /// The errors of [`Group::require_group`].
    pub async fn require_group(&self, path: impl Into<String>) -> Result<Self> {
        let path = path.into();
        self.run(move |group| group.require_group(&path)).await.map(Self::from)
    }

    /// Returns true if there is a node at a path below this group. See [`Group::contains`].
    ///
    /// # Errors
    /// The errors of [`Group::contains`].
    pub async fn contains(&self, path: impl Into<String>) -> Result<bool> {
        let path = path.into();
        self.run(move |group| group.contains(&path)).await
    }

    /// Returns the children. See [`Group::children`].
    ///
    /// # Errors
    /// The errors of [`Group::children`].
    pub async fn children(&self) -> Result<Vec<Child>> {
        self.run(Group::children).await
    }

    /// Deletes the node at a path below this group. See [`Group::delete`].
    ///
    /// # Errors
    /// The errors of [`Group::delete`].
    pub async fn delete(&self, path: impl Into<String>) -> Result<()> {
        let path = path.into();
        self.run(move |group| group.delete(&path)).await
    }

    /// Replaces all attributes. See [`Group::set_attributes`].
    ///
    /// # Errors
    /// The errors of [`Group::set_attributes`].
    pub async fn set_attributes(&mut self, attributes: impl Into<Map>) -> Result<()> {
        let attributes = attributes.into();
        self.change(move |group| group.set_attributes(attributes)).await
    }

    /// Changes attributes. See [`Group::update_attributes`].
    ///
    /// # Errors
    /// The errors of [`Group::update_attributes`].
    pub async fn update_attributes(&mut self, edit: impl FnMut(&mut Map) + Send + 'static) -> Result<()> {
        self.change(move |group| group.update_attributes(edit)).await
    }

    /// Runs work with the group on a thread that may block.
    ///
    /// # Errors
    /// The error of the work.
    pub async fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Group) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let group = Arc::clone(&self.0);
        run(move || work(&group)).await
    }

    /// Runs work that changes the metadata, and then updates the metadata of this handle.
    async fn change<R: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Group) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let mut group = (*self.0).clone();
        let (group, result) = run(move || {
            let result = work(&mut group);
            Ok((group, result))
        })
        .await?;
        self.0 = Arc::new(group);
        result
    }
}

/// Cancels work when its future is dropped; completed work is not affected.
#[derive(Debug)]
struct RaisedOnDrop(Interrupt);

impl Drop for RaisedOnDrop {
    fn drop(&mut self) {
        self.0.raise();
    }
}
