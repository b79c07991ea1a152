//! `_native.Group`.

use std::sync::{PoisonError, RwLock};

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyString;
use zarrox::json::{Json, Map};
use zarrox::{Error, ErrorKind, Node, NodeKind};

use crate::array::{Array, Opened, attributes_of, put_attributes};
use crate::error::{OrRaise, of_python};
use crate::format::format_name;
use crate::store::Store;

/// A group that all threads share.
#[pyclass(frozen, module = "zarrox._native")]
pub(crate) struct Group {
    group: RwLock<zarrox::Group>,
    opened: Opened,
}

impl Group {
    pub(crate) fn new(group: zarrox::Group, opened: Opened) -> Self {
        Self { group: RwLock::new(group), opened }
    }

    pub(crate) fn group(&self) -> zarrox::Group {
        self.group.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn opened(&self) -> &Opened {
        &self.opened
    }

    fn replace(&self, group: zarrox::Group) {
        *self.group.write().unwrap_or_else(PoisonError::into_inner) = group;
    }
}

/// Returns the name of a node's kind, even if the node cannot be opened.
pub(crate) fn kind_of(node: &zarrox::Result<Node>) -> &'static str {
    match node {
        Ok(Node::Array(_)) => "array",
        Ok(Node::Group(_)) => "group",
        Err(_) => "broken",
    }
}

#[pymethods]
impl Group {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.opened.owned.visit(&visit)
    }

    #[getter]
    fn path(&self) -> String {
        self.group().path().as_str().to_owned()
    }

    #[getter]
    fn format(&self) -> String {
        format_name(self.group().metadata().format)
    }

    #[getter]
    fn read_only(&self) -> bool {
        self.opened.read_only
    }

    fn document(&self, py: Python<'_>) -> PyResult<String> {
        let group = self.group();
        Ok(Json::from(py.detach(|| group.document()).or_raise()?).to_string())
    }

    #[pyo3(signature = (refresh = false))]
    fn attributes(&self, py: Python<'_>, refresh: bool) -> PyResult<String> {
        if refresh && !self.opened.consolidated {
            let group = self.group();
            let options = self.opened.options().format(group.metadata().format);
            let store = self.opened.store.clone();
            let path = group.path().as_str();
            let again = py.detach(|| options.open((store, path)).and_then(Node::into_group)).or_raise()?;
            self.replace(again);
        }
        Ok(zarrox::json::to_line(self.group().attributes()))
    }

    #[pyo3(signature = (attributes, among = false))]
    fn set_attributes(&self, py: Python<'_>, attributes: &str, among: bool) -> PyResult<()> {
        let mut group = self.group();
        let said = attributes_of(attributes)?;
        let format = group.metadata().format;
        let put = |stored: &mut Map| put_attributes(stored, said.clone(), among, format);
        py.detach(|| group.update_attributes(put)).or_raise()?;
        self.replace(group);
        Ok(())
    }

    fn children<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let group = self.group();
        let children = py.detach(|| group.children()).or_raise()?;
        let child = |child: zarrox::Child| {
            let node = match child.node {
                Ok(node) => node_object(py, node, self.opened.again(py))?,
                Err(error) => PyString::new(py, &error.to_string()).into_any(),
            };
            Ok((child.name, node))
        };
        children.into_iter().map(child).collect()
    }

    fn names(&self, py: Python<'_>) -> PyResult<Vec<(String, &'static str)>> {
        let group = self.group();
        let children = py.detach(|| group.children()).or_raise()?;
        Ok(children.into_iter().map(|child| (child.name, kind_of(&child.node))).collect())
    }

    fn child_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let group = self.group();
        py.detach(|| group.child_names()).or_raise()
    }

    fn kinds(&self, py: Python<'_>) -> PyResult<Vec<(String, &'static str)>> {
        let group = self.group();
        let kinds = py.detach(|| group.child_kinds()).or_raise()?;
        let text = |kind: &zarrox::Result<NodeKind>| match kind {
            Ok(NodeKind::Array) => "array",
            Ok(NodeKind::Group) => "group",
            Err(_) => "broken",
        };
        Ok(kinds.iter().map(|(name, kind)| (name.clone(), text(kind))).collect())
    }

    fn contains(&self, py: Python<'_>, path: &str) -> bool {
        let group = self.group();
        // A node with invalid metadata counts as a node.
        py.detach(|| group.kind(path)).map_or_else(|error| !is_missing(&error), |kind| kind.is_some())
    }

    fn open<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyAny>> {
        let group = self.group();
        let node = py.detach(|| group.open(path)).or_raise()?;
        node_object(py, node, self.opened.again(py))
    }

    fn kind(&self, py: Python<'_>, path: &str) -> Option<&'static str> {
        let group = self.group();
        known_kind(&py.detach(|| group.open(path)))
    }

    #[pyo3(signature = (path, overwrite = false))]
    fn create_group(&self, py: Python<'_>, path: &str, overwrite: bool) -> PyResult<Self> {
        let group = self.group();
        let created = py.detach(|| {
            if overwrite && group.contains(path)? {
                group.delete(path)?;
            }
            group.create_group(path)
        });
        let full = group.path().join(path).or_raise()?;
        let store = crate::store::Store::of(self.opened.store.clone());
        let created = created.map_err(|error| raise_in_the_way(py, &store, full.as_str(), &error))?;
        Ok(Self::new(created, self.opened.again(py)))
    }

    fn require_group(&self, py: Python<'_>, path: &str) -> PyResult<Self> {
        let group = self.group();
        Ok(Self::new(py.detach(|| group.require_group(path)).or_raise()?, self.opened.again(py)))
    }

    fn delete(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        let group = self.group();
        py.detach(|| group.delete(path)).or_raise()
    }

    #[pyo3(name = "move")]
    fn move_node(&self, py: Python<'_>, from_: &str, to: &str) -> PyResult<()> {
        let group = self.group();
        py.detach(|| group.move_node(from_, to)).or_raise()
    }
}

/// An array that grows: its path below the group, the axis, and the old and new length.
type Longer = (String, usize, u64, u64);

/// The exclusive right to grow the arrays of a group.
#[pyclass(frozen, module = "zarrox._native")]
pub(crate) struct Growth(zarrox::internals::Growth);

#[pymethods]
impl Growth {
    #[getter]
    fn left(&self) -> Vec<Longer> {
        let of = |array: &zarrox::internals::GrownArray| {
            (array.path.clone(), array.axis, array.before, array.after)
        };
        self.0.left().iter().map(of).collect()
    }

    fn note(&self, py: Python<'_>, arrays: Vec<Longer>, is_written: bool) -> PyResult<()> {
        let of = |(path, axis, before, after)| zarrox::internals::GrownArray { path, axis, before, after };
        let arrays: Vec<_> = arrays.into_iter().map(of).collect();
        py.detach(|| self.0.note(&arrays, is_written)).or_raise()
    }
}

/// Calls a function that grows arrays of a group, while no other writer grows them.
#[pyfunction]
pub(crate) fn grow_with(group: &Bound<'_, Group>, work: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let (py, group, work) = (group.py(), group.get().group(), work.clone().unbind());
    let call = |growth: &zarrox::internals::Growth| {
        let growth = growth.clone();
        Python::attach(|py| work.call1(py, (Growth(growth),))).map_err(of_python)
    };
    // Ctrl-C interrupts the wait for other writers.
    let waiting = || Python::attach(|py| py.check_signals()).map_err(of_python);
    py.detach(|| group.grow_with(waiting, call)).or_raise()
}

/// Returns the name of a node's kind; `None` if the node does not exist.
pub(crate) fn known_kind(node: &zarrox::Result<Node>) -> Option<&'static str> {
    (!node.as_ref().is_err_and(is_missing)).then(|| kind_of(node))
}

fn is_missing(error: &zarrox::Error) -> bool {
    error.kind() == ErrorKind::NotFound
}

/// Opens an array or a group as its own class.
pub(crate) fn node_object<'py>(py: Python<'py>, node: Node, opened: Opened) -> PyResult<Bound<'py, PyAny>> {
    match node {
        Node::Array(array) => Ok(Bound::new(py, Array::new(py, array, opened)?)?.into_any()),
        Node::Group(group) => Ok(Bound::new(py, Group::new(group, opened))?.into_any()),
    }
}

/// Returns the exception for an existing node that prevents a new one from being created: a node at the same path, or an array
/// above it.
pub(crate) fn raise_in_the_way(py: Python<'_>, store: &Store, path: &str, error: &Error) -> PyErr {
    let path = path.trim_matches('/');
    let kind_at = |path: &str| {
        let node: zarrox::Result<Node> =
            py.detach(|| crate::context::open_options().open((store.store.clone(), path)));
        known_kind(&node)
    };
    let mut above = std::iter::once("").chain(path.match_indices('/').map(|(at, _)| &path[..at]));
    let class = match error.kind() {
        ErrorKind::AlreadyExists => match kind_at(path) {
            Some("array") => "ContainsArrayError",
            Some("group") => "ContainsGroupError",
            _ => return crate::error::raise(error),
        },
        ErrorKind::InvalidArgument if above.any(|at| at != path && kind_at(at) == Some("array")) => {
            "ContainsArrayError"
        }
        _ => return crate::error::raise(error),
    };
    crate::error::raise_as(py, class, error)
}
