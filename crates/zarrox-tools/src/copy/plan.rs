//! The plan of a conversion, made before anything is written.

use std::collections::HashSet;
use std::ops::ControlFlow;

use zarrox_core::internals::metadata::{Consolidation, Layout};
use zarrox_core::{ArrayMetadata, Error, ErrorKind, Format, GroupMetadata, NodeMetadata, NodePath, Result};
use zarrox_stores::Prefix;

use super::chosen::Chosen;
use super::elements::PlainElements;
use super::report::{Action, CopyReport, Effect, NodeReport, Property};
use super::reshard;
use super::rewrite::Rewrite;
use super::target::TargetArray;
use super::translator::Missing;
use super::translator::Translator;
use zarrox::internals::{JOURNAL, Location, argument};
use zarrox::{Array, Group, Node};

/// The step of a conversion for one node.
#[derive(Debug)]
pub(super) struct Step {
    /// The path of the node, relative to the converted node.
    pub(super) path: String,
    pub(super) action: Action,
    /// The array, if the node is an array.
    pub(super) array: Option<Array>,
    /// The node in the target's form; `None` if it stays unchanged.
    pub(super) target: Option<NodeMetadata>,
    /// True if missing chunks must be written, since they would be read as other values.
    pub(super) all_chunks: bool,
    /// The number of bytes of the source's stored chunks.
    pub(super) bytes: u64,
    /// True if the group has consolidated metadata, which is also written for the target.
    pub(super) consolidate: bool,
}

impl Step {
    /// Creates a step without chunks.
    fn documents(path: &str, action: Action, target: Option<NodeMetadata>) -> Self {
        Self {
            path: path.to_owned(),
            action,
            array: None,
            target,
            all_chunks: false,
            bytes: 0,
            consolidate: false,
        }
    }
}

/// The options for the plan of a copy.
#[derive(Clone, Copy)]
pub(super) struct PlanOptions<'a> {
    pub(super) to: Format,
    pub(super) rewrite: &'a Rewrite,
    pub(super) chosen: &'a Chosen,
    /// True if the root always gets consolidated metadata.
    pub(super) consolidate: bool,
    /// The treatment of missing values.
    pub(super) missing: Missing,
    pub(super) elements: Option<&'a PlainElements>,
}

/// Walks through the source.
pub(super) struct Planner<'a> {
    options: PlanOptions<'a>,
    to: Format,
    source: &'a Location,
    destination: &'a Location,
    in_place: Option<Format>,
    steps: Vec<Step>,
    report: CopyReport,
    /// True if siblings of the current node have dimension names.
    in_data_set: bool,
}

impl<'a> Planner<'a> {
    pub(super) fn new(
        options: PlanOptions<'a>,
        source: &'a Location,
        destination: &'a Location,
        from: Format,
        in_place: bool,
    ) -> Self {
        let to = options.to;
        let shown = |place: &Location| match place.path.is_root() {
            true => place.store.location(),
            false => format!("{} in {}", place.path, place.store.location()),
        };
        let report = CopyReport {
            from,
            to,
            source: shown(source),
            destination: (!in_place).then(|| shown(destination)),
            nodes: Vec::new(),
            obstacles: Vec::new(),
            skipped: Vec::new(),
        };
        let in_place = in_place.then_some(from);
        Self { options, to, source, destination, in_place, steps: Vec::new(), report, in_data_set: false }
    }

    /// Returns the report and discards the plan.
    pub(super) fn into_report(self) -> CopyReport {
        self.report
    }

    /// Plans the steps for this node and all nodes below it, and returns them with their report.
    pub(super) fn plan(mut self, root: Node) -> Result<(Vec<Step>, CopyReport)> {
        if self.options.rewrite.part.is_some() && matches!(root, Node::Group(_)) {
            let message = "a selection applies to a single array; name an array of the group";
            return Err(argument(message));
        }
        self.node("", root)?;
        self.measure()?;
        self.leave_out_groups();
        if self.options.consolidate {
            self.steps.first_mut().into_iter().for_each(|root| root.consolidate = true);
        }
        Ok((self.steps, self.report))
    }

    /// Counts the stored chunks of the arrays that are copied as a whole. In a remote store, several arrays are listed
    /// concurrently.
    fn measure(&mut self) -> Result<()> {
        if self.in_place.is_some() || self.options.rewrite.part.is_some() || self.options.elements.is_some() {
            return Ok(());
        }
        let arrays: Vec<Array> = self.steps.iter().filter_map(|step| step.array.clone()).collect();
        let mut sizes = self.source.pool().map(arrays, 0, usize::MAX, |array| stored(&array))?.into_iter();
        let steps =
            self.steps.iter_mut().zip(&mut self.report.nodes).filter(|(step, _)| step.array.is_some());
        for ((step, node), (chunks, bytes)) in steps.zip(&mut sizes) {
            (node.chunks, node.bytes, step.bytes) = (chunks, bytes, bytes);
        }
        Ok(())
    }

    /// Drops groups without selected arrays, if arrays were selected.
    fn leave_out_groups(&mut self) {
        if !self.options.chosen.is_picky() {
            return;
        }
        let arrays: Vec<String> =
            self.steps.iter().filter(|step| step.array.is_some()).map(|step| step.path.clone()).collect();
        let is_above = |path: &str| path.is_empty() || arrays.iter().any(|array| is_below(array, path));
        self.steps.retain(|step| step.array.is_some() || is_above(&step.path));
        self.report.nodes.retain(|node| node.is_array || is_above(node.path.trim_start_matches('/')));
    }

    fn node(&mut self, path: &str, node: Node) -> Result<()> {
        if !self.options.chosen.has(path, matches!(node, Node::Array(_))) {
            return Ok(());
        }
        if self.in_place.is_some() && node.format() == self.to {
            self.unchanged(path, &node)?;
        } else if let Some(reason) = self.misplaced(path, &node)? {
            self.leave_out(path, &reason);
            return Ok(());
        } else {
            match &node {
                Node::Array(array) => self.array(path, array)?,
                Node::Group(group) => self.group(path, group)?,
            }
        }
        match node {
            Node::Group(group) => self.children(path, &group),
            Node::Array(_) => Ok(()),
        }
    }

    /// Returns the reason why a node cannot have its target path; `None` if it can.
    fn misplaced(&self, path: &str, node: &Node) -> Result<Option<String>> {
        if self.in_place.is_some_and(|from| from != node.format()) {
            return Ok(Some(format!("it has the format Zarr {}, unlike the nodes above", node.format())));
        }
        let place = self.destination.at(self.destination.path.join(path)?);
        let layout = place.layout_for(self.to)?;
        Ok(place.check_names(&layout).err().map(|error| error.to_string()))
    }

    fn unchanged(&mut self, path: &str, node: &Node) -> Result<()> {
        let is_array = matches!(node, Node::Array(_));
        let report = NodeReport { path: shown(path), is_array, action: Action::Nothing, chunks: 0, bytes: 0 };
        self.report.nodes.push(report);
        let mut step = Step::documents(path, Action::Nothing, None);
        if let (Node::Group(group), Some(from)) = (node, self.in_place) {
            // An earlier run may have been interrupted right before this step.
            let (place, to) = (group.location(), self.to);
            step.consolidate =
                place.has_consolidated(from)? && place.can_consolidate(to)? && !place.has_consolidated(to)?;
        }
        self.steps.push(step);
        Ok(())
    }

    fn group(&mut self, path: &str, group: &Group) -> Result<()> {
        let name = shown(path);
        let Some(target) = self.translator(path, &name)?.group(group.metadata()) else { return Ok(()) };
        if let Some(from) = self.in_place {
            self.check_documents(path, from)?;
        }
        let report =
            NodeReport { path: name, is_array: false, action: Action::Metadata, chunks: 0, bytes: 0 };
        self.report.nodes.push(report);
        let mut step = Step::documents(path, Action::Metadata, Some(NodeMetadata::Group(target)));
        step.consolidate = self.consolidates(path, group)?;
        self.steps.push(step);
        Ok(())
    }

    /// Returns true if a group has consolidated metadata that the target supports.
    fn consolidates(&mut self, path: &str, group: &Group) -> Result<bool> {
        if !group.location().has_consolidated(group.metadata().format)? {
            return Ok(false);
        }
        let place = self.destination.at(self.destination.path.join(path)?);
        if place.can_consolidate(self.to)? {
            return Ok(true);
        }
        let name = shown(path);
        let reason = "the target has no consolidated metadata; nodes are found nevertheless";
        self.translator(path, &name)?.find(Property::Groups, Effect::Note, reason);
        Ok(false)
    }

    fn array(&mut self, path: &str, array: &Array) -> Result<()> {
        if let Some(elements) = self.options.elements {
            return self.elements(path, array, elements);
        }
        let name = shown(path);
        let keys = array.raw().key_encoding()?;
        let Some(target) = self.translator(path, &name)?.array(array, keys)? else { return Ok(()) };
        let Some(target) = self.rewritten(path, array, target)? else { return Ok(()) };
        if let Some(from) = self.in_place {
            self.check_keys(path, array, &target.metadata, from)?;
        }
        let action = match (self.in_place, target.same_chunks && !target.other_fill) {
            (Some(_), _) => Action::Metadata,
            (None, true) => Action::CopyChunks,
            (None, false) if self.reshards(path, array, &target)? => Action::Reshard,
            (None, false) => Action::Reencode,
        };
        let (mut chunks, mut bytes) = (0, 0);
        let rewrite = self.options.rewrite;
        if rewrite.part.is_some() {
            let metadata = &target.metadata;
            chunks = metadata.chunk_grid.chunk_count(&metadata.shape).unwrap_or(u64::MAX);
            let item = array.data_type().size() as u64;
            bytes = metadata.shape.iter().fold(item, |size, &length| size.saturating_mul(length));
        }
        self.report.nodes.push(NodeReport { path: name, is_array: true, action, chunks, bytes });
        self.steps.push(Step {
            path: path.to_owned(),
            action,
            array: Some(array.clone()),
            target: Some(NodeMetadata::Array(target.metadata)),
            all_chunks: target.other_fill || rewrite.part.is_some(),
            bytes,
            consolidate: false,
        });
        Ok(())
    }

    /// Plans an array without chunks.
    fn elements(&mut self, path: &str, array: &Array, elements: &PlainElements) -> Result<()> {
        let place = self.destination.at(self.destination.path.join(path)?);
        let target = elements.plan(array, self.options.rewrite, self.to, &place)?;
        let item = array.data_type().size() as u64;
        let bytes = array.shape().iter().fold(item, |size, &length| size.saturating_mul(length));
        let chunks = target.chunk_grid.chunk_count(&target.shape).unwrap_or(u64::MAX);
        let action = Action::Encode;
        self.report.nodes.push(NodeReport { path: shown(path), is_array: true, action, chunks, bytes });
        self.steps.push(Step {
            array: Some(array.clone()),
            all_chunks: true,
            bytes,
            ..Step::documents(path, action, Some(NodeMetadata::Array(target)))
        });
        Ok(())
    }

    /// Returns true if encoded chunks are copied into other stored objects without decoding.
    fn reshards(&self, path: &str, array: &Array, target: &TargetArray) -> Result<bool> {
        if target.other_fill || self.options.rewrite.part.is_some() {
            return Ok(false);
        }
        let place = self.destination.at(self.destination.path.join(path)?);
        let target = Array::by_metadata(place, target.metadata.clone())?;
        Ok(target.unreadable().is_none() && array.unreadable().is_none() && reshard::fits(array, &target))
    }

    /// Returns the target with the properties that the copy changes; `None` if these changes are impossible.
    fn rewritten(&mut self, path: &str, array: &Array, target: TargetArray) -> Result<Option<TargetArray>> {
        let rewrite = self.options.rewrite;
        if rewrite.is_nothing() {
            return Ok(Some(target));
        }
        let place = self.destination.at(self.destination.path.join(path)?);
        let name = shown(path);
        rewrite.check_ndim(array, &name)?;
        let mut translator = self.translator(path, &name)?;
        let writes_all = target.other_fill;
        let made = rewrite.apply(array, target.metadata, &place);
        let made = made.and_then(|metadata| translator.says_array(&metadata).map(|()| metadata));
        match made {
            Ok(metadata) => Ok(translator.rewritten(array, metadata, rewrite, writes_all)),
            Err(error) => {
                translator.find(Property::Codecs, Effect::Refusal, error.message().to_owned());
                Ok(None)
            }
        }
    }

    /// Checks the keys of a conversion in place: chunks must keep their keys, and new documents must not replace old ones.
    fn check_keys(&mut self, path: &str, array: &Array, target: &ArrayMetadata, from: Format) -> Result<()> {
        let place = self.destination.at(self.destination.path.join(path)?);
        let first = vec![0; array.ndim()];
        let kept =
            Array::by_metadata(place, target.clone())?.object_key(&first)? == array.object_key(&first)?;
        let name = shown(path);
        if !kept {
            let reason = "its chunks would have other keys; give a destination for a converted copy";
            self.translator(path, &name)?.find(Property::ChunkKeys, Effect::Refusal, reason);
        }
        self.check_documents(path, from)
    }

    fn check_documents(&mut self, path: &str, from: Format) -> Result<()> {
        let place = self.destination.path.join(path)?;
        let (old, new) = (from.def(), self.to.def());
        let alike =
            old.layout().chunks(&place) == new.layout().chunks(&place) && old.entry_key() == new.entry_key();
        let (old, new) = (old.layout().keys(&place), new.layout().keys(&place));
        if alike && !new.iter().any(|key| old.contains(key)) {
            return Ok(());
        }
        let name = shown(path);
        let reason = "the documents of the two formats cannot be in the same place; give a destination";
        self.translator(path, &name)?.find(Property::Nodes, Effect::Refusal, reason);
        Ok(())
    }

    fn translator<'t>(&'t mut self, path: &str, shown: &'t str) -> Result<Translator<'t>> {
        Ok(Translator {
            to: self.to,
            in_place: self.in_place.is_some(),
            missing: self.options.missing,
            lists: true,
            in_data_set: self.in_data_set,
            registry: &self.source.context.registry,
            chunk_limit: self.source.context.chunk_limit,
            path: self.destination.path.join(path)?,
            shown,
            obstacles: &mut self.report.obstacles,
        })
    }

    fn children(&mut self, above: &str, group: &Group) -> Result<()> {
        let mut known = HashSet::new();
        let children = group.children()?;
        let in_data_set =
            children.iter().any(|child| matches!(&child.node, Ok(node) if has_named_dimensions(node)));
        for child in children {
            self.in_data_set = in_data_set;
            let path = joined(above, &child.name);
            known.insert(child.name);
            match child.node {
                Ok(node) => self.node(&path, node)?,
                Err(error) if is_outage(&error) => return Err(error),
                Err(error) => self.leave_out(&path, &format!("it cannot be read: {error}")),
            }
        }
        self.strays(above, group, &known)
    }

    fn leave_out(&mut self, path: &str, reason: &str) {
        let name = shown(path);
        let Ok(mut translator) = self.translator(path, &name) else { return };
        let effect = translator.left_out();
        translator.find(Property::Nodes, effect, format!("{reason}; it would be left out"));
    }

    /// Finds the contents of a group that are not nodes: prefixes without a group document, whose nodes are converted, and other
    /// objects, which are not converted.
    fn strays(&mut self, above: &str, group: &Group, known: &HashSet<String>) -> Result<()> {
        let format = group.metadata().format;
        if format.def().layout().implicit_groups() || !self.source.store.capabilities().listable {
            return Ok(());
        }
        let location = self.source.at(group.path().clone());
        let listing = location.store.list_dir(&Prefix::new(location.path.prefix())?)?;
        for prefix in listing.prefixes.iter().filter(|prefix| !known.contains(prefix.name())) {
            let (name, path) = (prefix.name(), joined(above, prefix.name()));
            let place = group.path().join(name).ok();
            match place.filter(|_| holds_nodes(&location, prefix, format).unwrap_or(true)) {
                Some(place) => {
                    let implicit = NodeMetadata::Group(GroupMetadata::new(format));
                    self.node(&path, Node::new(self.source.at(place).settle(format)?, implicit)?)?;
                }
                None => self.note_stray(&path),
            }
        }
        let layouts: Vec<Layout> = Format::all().map(|format| format.def().layout()).collect();
        let mut documents: Vec<&str> = layouts.iter().flat_map(Layout::documents).copied().collect();
        let copies = Format::all().filter_map(|format| match format.def().consolidation() {
            Some(Consolidation::Beside(name)) => Some(name),
            _ => None,
        });
        documents.extend(copies);
        for key in &listing.keys {
            let name = key.name();
            if !documents.contains(&name) && name != JOURNAL {
                self.note_stray(&joined(above, name));
            }
        }
        Ok(())
    }

    fn note_stray(&mut self, path: &str) {
        if self.in_place.is_some() {
            return;
        }
        let (name, reason) = (shown(path), "it does not belong to a node and will not be converted");
        if let Ok(mut translator) = self.translator("", &name) {
            translator.find(Property::Nodes, Effect::Note, reason);
        }
    }
}

/// Returns true if there is a document of the format below a prefix.
fn holds_nodes(location: &Location, prefix: &Prefix, format: Format) -> Result<bool> {
    let layout = format.def().layout();
    let mut found = false;
    let mut visit = |key: zarrox_stores::Key, _| {
        let parent = key.parent();
        let path = NodePath::new(parent.as_str());
        found = path.is_ok_and(|path| layout.keys(&path).iter().any(|document| *document == key.as_str()));
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    location.store.list_prefix(prefix, &mut visit)?;
    Ok(found)
}

/// Returns the number of stored chunks of an array, and their size in bytes.
fn stored(array: &Array) -> Result<(u64, u64)> {
    let (mut chunks, mut bytes) = (0, 0);
    array.visit_stored(&mut |chunk, size| {
        chunks += u64::from(chunk.is_some());
        bytes += if chunk.is_some() { size } else { 0 };
    })?;
    Ok((chunks, bytes))
}

/// Returns true if the node is an array, and all its dimensions have names.
fn has_named_dimensions(node: &Node) -> bool {
    let Node::Array(array) = node else { return false };
    array.dimension_names().is_some_and(|names| !names.is_empty() && names.iter().all(Option::is_some))
}

/// Returns true if the store failed, as opposed to invalid stored data.
fn is_outage(error: &Error) -> bool {
    use ErrorKind::{Forbidden, NotFound, StorageFull, Unreachable};
    matches!(error.kind(), NotFound | Forbidden | Unreachable | StorageFull)
}

fn joined(above: &str, name: &str) -> String {
    if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") }
}

/// Returns true if a node is below another one.
fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))
}

fn shown(path: &str) -> String {
    format!("/{path}")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use zarrox_core::json::json;
    use zarrox_core::{DataType, Format};
    use zarrox_stores::{MemoryStore, Store};

    use crate::copy::copier::Copier;
    use zarrox::OpenOptions;

    #[test]
    fn scalars_of_a_data_set_have_no_dimensions_for_xarray() {
        for named in [true, false] {
            let (store, made): (Arc<dyn Store>, Arc<dyn Store>) =
                (Arc::new(MemoryStore::new()), Arc::new(MemoryStore::new()));
            let root = OpenOptions::new().create_group((store.clone(), "")).unwrap();
            let scalar =
                root.create_array("s").shape([0_u64; 0]).data_type(DataType::Int16).create().unwrap();
            scalar.write(.., ndarray::arr0(3_i16)).unwrap();
            let array = root.create_array("x").shape([2]).data_type(DataType::Int16);
            if named { array.dimension_names(["x"]) } else { array }.create().unwrap();
            let _ = Copier::new()
                .format(Format::V2)
                .plan((store, ""), (made.clone(), ""))
                .unwrap()
                .run()
                .unwrap();
            let copy = OpenOptions::new().open((made, "s")).unwrap().into_array().unwrap();
            let list = named.then(|| json!([]));
            assert_eq!(copy.attributes().get("_ARRAY_DIMENSIONS"), list.as_ref());
            assert_eq!(copy.read::<ndarray::ArrayD<i16>>(..).unwrap().sum(), 3);
        }
    }
}
