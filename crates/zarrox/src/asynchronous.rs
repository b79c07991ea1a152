//! Arrays and groups for programs with an asynchronous runtime: everything that waits is a future.
//!
//! There is one engine, which needs no runtime: it sends requests in parallel, and decodes on its own threads. This module hands
//! it work and awaits the result, on Tokio or any other executor, so that no thread of the program is blocked.
//!
//! ```
//! use zarrox::asynchronous;
//! use zarrox::prelude::*;
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("a.zarr");
//! # let a = zarrox::create_array(&path).shape([4, 6]).chunks([2, 6]).data_type(DataType::Int32).create()?;
//! # a.write(.., &ndarray::Array2::from_elem((4, 6), 7_i32))?;
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let array = asynchronous::open_array(path).await?;
//! let row = array.read::<i32>(s![1, ..]).await?;
//! array.write(s![2, ..], row).await?;
//! let sum = array.run(|array| array.slice(s![.., 0]).read::<i32>()).await?.sum();
//! # assert_eq!(sum, 28);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::PathBuf;
use std::sync::Arc;

use ndarray::{ArcArray, ArrayD, Dimension};
use zarrox_core::{Element, IntoSelection, Result};

use crate::{AccessOptions, DynArray, Interrupt, Node};

/// Runs work on a thread that may block, and returns its result.
///
/// A dropped future does not stop the work, which continues to its end.
///
/// # Errors
/// The error of the work; [`ErrorKind::Unreachable`](crate::ErrorKind::Unreachable) when no thread can be started.
///
/// # Panics
/// When the work panics.
pub async fn run<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    zarrox_stores::run_blocking(work).await?
}

/// Opens the node at a path or URL, see [`crate::open`].
///
/// # Errors
/// The errors of [`crate::open`].
pub async fn open(path: impl Into<PathBuf>) -> Result<Node> {
    let path = path.into();
    run(move || crate::open(path)).await
}

/// Opens the array at a path or URL, see [`crate::open_array`].
///
/// # Errors
/// The errors of [`crate::open_array`].
pub async fn open_array(path: impl Into<PathBuf>) -> Result<AsyncArray> {
    open(path).await?.into_array().map(AsyncArray::from)
}

/// Opens the group at a path or URL, see [`crate::open_group`].
///
/// # Errors
/// The errors of [`crate::open_group`].
pub async fn open_group(path: impl Into<PathBuf>) -> Result<AsyncGroup> {
    open(path).await?.into_group().map(AsyncGroup::from)
}

/// An array whose elements are awaited.
///
/// Dropping a future cancels its work: chunks in progress are finished, and no others are started.
#[derive(Debug, Clone)]
pub struct AsyncArray(Arc<crate::Array>);

impl From<crate::Array> for AsyncArray {
    fn from(array: crate::Array) -> Self {
        Self(Arc::new(array))
    }
}

impl AsyncArray {
    /// The array itself, with all that needs no access to the store, such as its shape and attributes. Its methods that read and
    /// write block the calling thread.
    pub fn blocking(&self) -> &crate::Array {
        &self.0
    }

    /// Reads elements into a new array.
    ///
    /// # Errors
    /// The errors of [`crate::Array::read`].
    pub async fn read<T: Element>(&self, selection: impl IntoSelection) -> Result<ArrayD<T>> {
        let selection = selection.into_selection();
        self.run(move |array| array.slice(selection).read()).await
    }

    /// Reads elements into a new array whose number of dimensions is known at compile time.
    ///
    /// # Errors
    /// The errors of [`crate::Array::read_nd`].
    pub async fn read_nd<T: Element, D: Dimension + 'static>(
        &self,
        selection: impl IntoSelection,
    ) -> Result<ndarray::Array<T, D>> {
        let selection = selection.into_selection();
        self.run(move |array| array.slice(selection).read_nd()).await
    }

    /// Reads elements without knowing their type at compile time.
    ///
    /// # Errors
    /// The errors of [`crate::Array::read_dyn`].
    pub async fn read_dyn(&self, selection: impl IntoSelection) -> Result<DynArray> {
        let selection = selection.into_selection();
        self.run(move |array| array.slice(selection).read_dyn()).await
    }

    /// Writes elements, see [`crate::Array::write`]. The values are owned, or shared by an [`ArcArray`], since the work may
    /// continue for a while after the future is dropped.
    ///
    /// # Errors
    /// The errors of [`crate::Array::write`].
    pub async fn write<T: Element, D: Dimension + 'static>(
        &self,
        selection: impl IntoSelection,
        values: impl Into<ArcArray<T, D>>,
    ) -> Result<()> {
        let (selection, values) = (selection.into_selection(), values.into());
        self.run(move |array| array.slice(selection).write(&values)).await
    }

    /// Runs work with the array on a thread that may block.
    ///
    /// # Errors
    /// The error of the work.
    pub async fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce(&crate::Array) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let dropped = RaisedOnDrop(Interrupt::new());
        let array = self.0.with_options(&AccessOptions::new().interrupt(&dropped.0));
        run(move || work(&array)).await
    }
}

/// A group whose nodes are awaited.
#[derive(Debug, Clone)]
pub struct AsyncGroup(Arc<crate::Group>);

impl From<crate::Group> for AsyncGroup {
    fn from(group: crate::Group) -> Self {
        Self(Arc::new(group))
    }
}

impl AsyncGroup {
    /// The group itself, with all that needs no access to the store, such as its attributes.
    pub fn blocking(&self) -> &crate::Group {
        &self.0
    }

    /// Opens the array at a path below.
    ///
    /// # Errors
    /// The errors of [`crate::Group::open`].
    pub async fn array(&self, path: impl Into<String>) -> Result<AsyncArray> {
        let path = path.into();
        self.run(move |group| group.open(&path)?.into_array()).await.map(AsyncArray::from)
    }

    /// Opens the group at a path below.
    ///
    /// # Errors
    /// The errors of [`crate::Group::open`].
    pub async fn group(&self, path: impl Into<String>) -> Result<Self> {
        let path = path.into();
        self.run(move |group| group.open(&path)?.into_group()).await.map(Self::from)
    }

    /// Runs work with the group on a thread that may block.
    ///
    /// # Errors
    /// The error of the work.
    pub async fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce(&crate::Group) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let group = Arc::clone(&self.0);
        run(move || work(&group)).await
    }
}

/// Cancels work when its future is dropped. Completed work is not affected.
struct RaisedOnDrop(Interrupt);

impl Drop for RaisedOnDrop {
    fn drop(&mut self) {
        self.0.raise();
    }
}
