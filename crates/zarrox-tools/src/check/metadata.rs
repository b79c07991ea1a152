//! Checks of nodes: of their documents, and of prefixes that are not nodes.

use std::sync::Arc;

use zarrox_codecs::internals::has_checksum;
use zarrox_core::internals::metadata::{Extent, Layout};
use zarrox_core::{Error, ErrorKind, Format, GroupMetadata, NodeMetadata, NodePath, Result};
use zarrox_stores::{Condition, Prefix};

use super::consolidated;
use super::disputed::{self, Verdict};
use super::finding::{Finding, FindingKind, Remedy};
use super::listing::{self, Scan, listed};
use super::missing;
use super::quarantine::WITHIN;
use super::replaced::{self, NodeState, set_aside};
use super::restore::Lost;
use super::session::{CheckLevel, Session};
use super::unfinished;
use zarrox::internals::{Found, Location, Purpose};
use zarrox::{Array, Group, Node};

/// Checks the start node, and all nodes below it.
pub(super) fn start(session: &Session<'_>) -> Result<()> {
    let place = session.start.clone();
    if !matches!(place.find(), Ok(None)) {
        return node(session, &place);
    }
    let scan = Scan::below(&place, &Prefix::new(place.path.prefix())?)?;
    if scan.journal
        || (scan.chunks > 0 && scan.document.is_none())
        || (scan.document.is_some() && !is_collection(&place)?)
    {
        return absent(session, &place);
    }
    // The error names the documents that were looked for.
    place.open_node().map(drop)
}

/// Returns true if a directory contains several hierarchies, and is not a node itself.
fn is_collection(place: &Location) -> Result<bool> {
    let listing = place.store.list_dir(&Prefix::new(place.path.prefix())?)?;
    let endings = [".zarr", ".n5", ".zip"];
    Ok(listing.prefixes.iter().any(|prefix| endings.iter().any(|ending| prefix.name().ends_with(ending))))
}

/// Checks a node, and all nodes below it.
fn node(session: &Session<'_>, place: &Location) -> Result<()> {
    node_in(session, place, None)
}

/// Checks a node that is a child of a group of this format, and all nodes below it.
fn node_in(session: &Session<'_>, place: &Location, group: Option<Format>) -> Result<()> {
    place.context.interrupt.check()?;
    let place = &place.probed(Purpose::Open);
    match replaced::check(session, place)? {
        NodeState::Unmoved => {}
        NodeState::MovedBack(original) => return node(session, &original),
        NodeState::Gone => return Ok(()),
    }
    let opened = match place.find() {
        Ok(None) => return absent(session, place),
        Ok(Some(Found { location, node, .. })) => Node::new(location, node),
        Err(error) => Err(error),
    };
    let opened = match opened {
        Ok(opened) => opened,
        Err(error) => return refused(session, place, error),
    };
    if let Some(reason) = strict_reason(place, &opened) {
        let why = "it can be read nevertheless; a copy by `zarrox convert` follows the specification";
        let why = Remedy::Nothing(why.to_owned());
        session.report(Finding::new(FindingKind::NonstandardDocument, place.path.as_str(), reason, why))?;
    }
    let format = match &opened {
        Node::Array(array) => array.metadata().format,
        Node::Group(group) => group.metadata().format,
    };
    if let Some(above) = group.filter(|above| *above != format) {
        let message = format!(
            "it has the format Zarr {format} in a group of Zarr {above}: programs that read one format, such as zarr-python, do not find it"
        );
        let why =
            Remedy::Nothing("convert it to the format of the group, or the group to its format".to_owned());
        session.report(Finding::new(FindingKind::MixedFormats, place.path.as_str(), message, why))?;
    }
    match opened {
        Node::Array(array) => {
            array_and_group(session, &array)?;
            check_array(session, &array)
        }
        Node::Group(group) => check_group(session, &group),
    }
}

/// Reports an array whose directory also contains the document of a group. This is possible in formats with different documents
/// for arrays and groups.
fn array_and_group(session: &Session<'_>, array: &Array) -> Result<()> {
    let (place, format) = (array.location().as_stored(), array.metadata().format);
    let layout = place.layout_for(format)?;
    let names = layout.documents();
    let Some(name) =
        format.def().group_document().filter(|group| *group > 0).and_then(|group| names.get(group))
    else {
        return Ok(());
    };
    let key = layout.key(array.path(), name);
    let Some(true) = listed(session, array.path().as_str(), place.has(key.clone()))? else { return Ok(()) };
    let message = "it has the documents of an array and of a group: programs may open it as either";
    let why = Remedy::Nothing("delete the unwanted document".to_owned());
    session.report(Finding::new(FindingKind::ArrayAndGroup, array.path().as_str(), message, why).at_key(key))
}

/// Returns the message of an error without the node, which the finding names.
fn message(place: &Location, error: &Error) -> String {
    let text = error.to_string();
    text.strip_prefix(&format!("'{}': ", place.path)).unwrap_or(&text).to_owned()
}

/// Returns the reason why the documents of a node violate their specification.
fn strict_reason(place: &Location, opened: &Node) -> Option<String> {
    let mut strict = place.clone();
    strict.context = Arc::new(place.context.strictly());
    let strictly =
        strict.find().and_then(|found| found.map(|found| Node::new(found.location, found.node)).transpose());
    match (strictly, opened) {
        (Err(error), _) if matches!(error.kind(), ErrorKind::InvalidMetadata | ErrorKind::Unsupported) => {
            Some(message(place, &error))
        }
        (Ok(Some(Node::Array(strict))), Node::Array(array)) if array.unreadable().is_none() => {
            strict.unreadable().map(str::to_owned)
        }
        _ => None,
    }
}

/// Reports a node that cannot be opened, and checks the nodes below it.
fn refused(session: &Session<'_>, place: &Location, error: Error) -> Result<()> {
    let path = place.path.as_str();
    let kind = match error.kind() {
        ErrorKind::InvalidMetadata | ErrorKind::InvalidArgument => FindingKind::UnreadableDocument,
        ErrorKind::Unsupported => FindingKind::Unsupported,
        ErrorKind::LimitExceeded => FindingKind::TooLarge,
        _ => return session.report_unreadable(path, error),
    };
    let finding = |remedy| Finding::new(kind, path, message(place, &error), remedy);
    if kind != FindingKind::UnreadableDocument {
        let why = "it may be intact, but its codecs or data type are unknown";
        return session.report(finding(Remedy::Nothing(why.to_owned())));
    }
    let key = first_document(place);
    let why = "its content must be written by hand; its chunks are not checked";
    let lost = Lost::find(place).filter(|lost| key.as_ref().is_none_or(|key| lost.is_beside(key)));
    if restored(session, place, lost, |remedy| Finding { key, ..finding(remedy) }, why)? {
        return node(session, &place.as_stored());
    }
    below(session, place)
}

/// Reports lost documents, and on request restores those that the consolidated metadata contains. Returns true if the documents
/// were restored.
fn restored(
    session: &Session<'_>,
    place: &Location,
    lost: Option<Lost>,
    finding: impl FnOnce(Remedy) -> Finding,
    why: &str,
) -> Result<bool> {
    let Some(lost) = lost else {
        session.report(finding(Remedy::Nothing(why.to_owned())))?;
        return Ok(false);
    };
    if let Node::Array(array) = lost.node(place)?
        && !disputed::fits(&array)?
    {
        let why = "the stored chunks do not fit the consolidated metadata of the array, which is out of date";
        session.report(finding(Remedy::Nothing(why.to_owned())))?;
        return Ok(false);
    }
    let mut restored = false;
    session.settle(vec![finding(Remedy::Restore)], || {
        lost.restore_at(session, place)?;
        restored = true;
        Ok(())
    })?;
    Ok(restored)
}

/// Returns the key of the first document of a node.
fn first_document(place: &Location) -> Option<String> {
    let mut keys = place.formats().flat_map(|format| {
        let layout = place.known_layout(format).unwrap_or_else(|| format.def().layout());
        layout.keys(&place.path)
    });
    keys.find(|key| place.stored_document(key.clone()).is_ok_and(|document| document.is_some()))
}

/// Checks the nodes in a directory that is not a node itself, or whose own document is invalid.
fn below(session: &Session<'_>, place: &Location) -> Result<()> {
    let prefix = Prefix::new(place.path.prefix())?;
    let Some(listing) =
        listed(session, place.path.as_str(), place.store.list_dir(&prefix).map_err(Error::from))?
    else {
        return Ok(());
    };
    for prefix in listing.prefixes {
        let scan = Scan::below(place, &prefix)?;
        // Below an array with an invalid document are only chunks, and no documents.
        if scan.document.is_some() {
            node(session, &place.as_stored().at(place.path.join(prefix.name())?))?;
        }
    }
    Ok(())
}

/// Checks a prefix that is not a node.
fn absent(session: &Session<'_>, place: &Location) -> Result<()> {
    let path = place.path.as_str();
    let prefix = Prefix::new(place.path.prefix())?;
    let Some(scan) = listed(session, path, Scan::below(place, &prefix))? else { return Ok(()) };
    if scan.journal {
        return listing::interrupted(session, path, &place.path.key(zarrox::internals::JOURNAL));
    }
    let Some(document) = scan.document else { return without_documents(session, place, &prefix, &scan) };
    if is_of_implicit_groups(place) {
        let message = "a node is inside an array, where programs do not find it";
        let why = Remedy::Nothing("move it to a path outside of the array".to_owned());
        return session.report(Finding::new(FindingKind::NodeInArray, path, message, why));
    }
    let format = if document == "zarr.json" { Format::V3 } else { Format::V2 };
    let message = format!("the group contains nodes but has no document, which Zarr {format} requires");
    let remedy = match first_document(&place.as_stored().of_format(None)) {
        Some(key) => Remedy::Nothing(format!("'{key}' exists with other content")),
        None => Remedy::CreateGroup,
    };
    let finding = Finding::new(FindingKind::ImplicitGroup, path, message, remedy);
    session.settle(vec![finding], || create_group(place, &prefix, format))?;
    // Once its document is read, the group may turn out to be a node that was set aside.
    let stored = place.as_stored();
    match session.repairs() && matches!(stored.find(), Ok(Some(_))) {
        true => node(session, &stored),
        false => below(session, place),
    }
}

/// Returns true if the hierarchy treats every prefix outside arrays as a group.
fn is_of_implicit_groups(place: &Location) -> bool {
    let place = place.as_stored();
    Format::all().any(|format| {
        place
            .existing_layout(format)
            .is_ok_and(|layout| layout.is_some_and(|layout| layout.implicit_groups()))
    })
}

/// Reports a prefix below which no node has a document.
fn without_documents(session: &Session<'_>, place: &Location, prefix: &Prefix, scan: &Scan) -> Result<()> {
    let path = place.path.as_str();
    if scan.chunks > 0 {
        let message = format!("{} chunks without a document of an array", scan.chunks);
        let finding = |remedy| Finding::new(FindingKind::ChunksWithoutArray, path, message, remedy);
        let why = "the array's metadata must be written by hand";
        let lost = Lost::find(place);
        if lost.is_none() && session.settings.orphans && scan.others == 0 {
            let finding = finding(Remedy::Quarantine).at_key(prefix.as_str());
            return session.settle(vec![finding], || set_chunks_aside(session, place, prefix));
        }
        if restored(session, place, lost, |remedy| finding(remedy).at_key(prefix.as_str()), why)? {
            return node(session, &place.as_stored());
        }
    }
    if session.settings.level == CheckLevel::Metadata {
        Ok(())
    } else {
        listing::report_others(session, path, scan)
    }
}

/// Moves chunks without a document to the quarantine.
fn set_chunks_aside(session: &Session<'_>, place: &Location, prefix: &Prefix) -> Result<()> {
    let is_as_judged = || {
        let scan = Scan::below(place, prefix)?;
        Ok(scan.document.is_none() && !scan.journal && scan.others == 0)
    };
    Session::repair_alone(place, &Format::V3.def().layout(), is_as_judged, || {
        let extent = Extent { keys: Vec::new(), prefixes: vec![prefix.as_str().to_owned()] };
        set_aside(session, &extent)?;
        place.erase_all(extent)
    })
}

/// Writes the document of a group that contains nodes. No lock prevents the deletion of these nodes: if they are gone afterwards,
/// the document is erased again.
fn create_group(place: &Location, prefix: &Prefix, format: Format) -> Result<()> {
    let check_nodes = || match Scan::below(place, prefix)?.has_nodes {
        true => Ok(()),
        false => Err(Error::new(
            ErrorKind::Conflict,
            "another process has deleted the nodes of the group; check it again",
        )),
    };
    check_nodes()?;
    let layout = format.def().layout();
    let group = NodeMetadata::Group(GroupMetadata::new(format));
    let condition =
        if place.store.capabilities().set_if_absent { Condition::Absent } else { Condition::Always };
    let mut created = Vec::new();
    for (name, document) in format.def().to_documents(&place.path, &group, &place.context.registry)? {
        let key = layout.key(&place.path, name);
        match place.put(key.clone(), &document, condition) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            written => {
                written?;
                created.push(key);
            }
        }
    }
    match check_nodes() {
        Ok(()) => Ok(()),
        Err(error) => created.into_iter().try_for_each(|key| place.erase(key)).and(Err(error)),
    }
}

fn check_array(session: &Session<'_>, array: &Array) -> Result<()> {
    match disputed::judge(session, array) {
        Ok(Verdict::Own) => check_undisputed(session, array),
        Ok(Verdict::Copy { array: said, documents, finding }) => {
            let mut is_restored = false;
            session.settle(vec![finding], || {
                // A resize holds the lock of the array, or a reservation for the whole array, until all chunks are updated.
                let place = array.location().as_stored();
                let layout = place.layout_for(array.metadata().format)?;
                let _alone = array.alone()?;
                let is_as_judged = || Ok(matches!(disputed::judge(session, array)?, Verdict::Copy { .. }));
                Session::repair_alone(&place, &layout, is_as_judged, || documents.restore(session))?;
                is_restored = true;
                Ok(())
            })?;
            if !is_restored {
                session.dispute(said.path().as_str(), !session.repairs());
            }
            check_undisputed(session, &said)
        }
        Ok(Verdict::Open(finding)) => {
            session.report(finding)?;
            session.dispute(array.path().as_str(), false);
            check_undisputed(session, array)
        }
        Err(error) => {
            session.report_unreadable(array.path().as_str(), error)?;
            session.dispute(array.path().as_str(), false);
            check_undisputed(session, array)
        }
    }
}

/// Checks an array whose metadata is not disputed, whether it comes from its own document or from a copy.
fn check_undisputed(session: &Session<'_>, array: &Array) -> Result<()> {
    session.count(|summary| summary.arrays += 1);
    let path = array.path().as_str();
    if let Some(why) = array.unreadable() {
        let remedy = Remedy::Nothing("it may be intact, but its codecs or data type are unknown".to_owned());
        session.report(Finding::new(FindingKind::Unsupported, path, why, remedy))?;
    }
    if session.settings.checksums && !has_checksum(&array.codecs()) {
        let message = "its chunks have no checksums, so that some damage cannot be detected";
        let why = Remedy::Nothing("copy it to an array with checksums".to_owned());
        session.report(Finding::new(FindingKind::NoChecksums, path, message, why))?;
    }
    let checked = match session.settings.level {
        CheckLevel::Metadata => Ok(()),
        _ => listing::array(session, array),
    };
    let checked = checked.and_then(|()| match session.settings.missing {
        true => missing::check(session, array),
        false => Ok(()),
    });
    listed(session, path, checked).map(drop)
}

fn check_group(session: &Session<'_>, group: &Group) -> Result<()> {
    session.count(|summary| summary.groups += 1);
    let (place, format, path) = (group.location(), group.metadata().format, group.path());
    let mut halves = Vec::new();
    if place.store.capabilities().listable {
        let listing = place.store.list_dir(&Prefix::new(path.prefix())?).map_err(Error::from);
        let Some(listing) = listed(session, path.as_str(), listing)? else { return Ok(()) };
        halves = unfinished::check(session, place, &listing.keys)?;
    }
    let names = place.names_below(format);
    let Some(names) = listed(session, path.as_str(), names)? else { return Ok(()) };
    let is_quarantine = |name: &String| path.is_root() && name == WITHIN;
    let is_checked = |name: &String| !is_quarantine(name) && !halves.contains(name);
    let names: Vec<String> = names.into_iter().filter(is_checked).collect();
    listing::names_by_case(session, path, &names)?;
    for name in &names {
        match path.join(name) {
            Ok(child) => node_in(session, &place.at(child), Some(format))?,
            Err(error) => bad_name(session, path, name, &error)?,
        }
    }
    if session.settings.level > CheckLevel::Metadata && place.store.capabilities().listable {
        let layout: Layout = place.layout_for(format)?;
        let others = listed(session, path.as_str(), listing::group(session, group, &layout, &names))?;
        for prefix in others.unwrap_or_default() {
            match path.join(prefix.name()) {
                _ if halves.iter().any(|half| half == prefix.name()) => {}
                Ok(child) => without_documents_below(session, &place.at(child), &prefix)?,
                Err(error) => bad_name(session, path, prefix.name(), &error)?,
            }
        }
    }
    consolidated::check(session, group)
}

/// Reports a prefix with chunks but without documents, in a format that stores the two under different prefixes.
fn without_documents_below(session: &Session<'_>, place: &Location, prefix: &Prefix) -> Result<()> {
    match listed(session, place.path.as_str(), Scan::below(place, prefix))? {
        Some(scan) => without_documents(session, place, prefix, &scan),
        None => Ok(()),
    }
}

/// Reports a name that is not valid for a node.
fn bad_name(session: &Session<'_>, path: &NodePath, name: &str, error: &Error) -> Result<()> {
    let message = format!("'{name}' is not a valid name of a node: {error}");
    let why = Remedy::Nothing("rename it".to_owned());
    session.report(Finding::new(FindingKind::UnreadableDocument, path.as_str(), message, why))
}
