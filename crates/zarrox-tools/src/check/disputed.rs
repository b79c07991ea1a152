//! Arrays whose own documents differ from the consolidated metadata.
//!
//! Either the documents or the consolidated metadata are out of date or damaged. The stored chunks show which: they lie in the
//! grid of the array that wrote them, and its codecs can decode them. If the chunks fit both or neither, the case is undecided,
//! and the array is not repaired. If the documents differ only in a smaller shape, chunks outside this shape are not evidence: an
//! interrupted resize leaves chunks there, and the old copy in the consolidated metadata.

use std::ops::ControlFlow;
use std::sync::Arc;

use zarrox_core::{ArrayMetadata, NodeMetadata, Result};

use super::chunks::{self, Target};
use super::finding::{Finding, FindingKind, Remedy};
use super::restore::Lost;
use super::session::{Session, is_undecided};
use zarrox::internals::ConsolidatedMetadata;
use zarrox::{Array, Node};

/// The maximum number of chunks that are decoded according to both documents.
const DECODED: usize = 64;

/// The document that the stored chunks fit.
pub(super) enum Verdict {
    /// The array's own document.
    Own,
    /// The copy in consolidated metadata.
    Copy { array: Box<Array>, documents: Lost, finding: Finding },
    /// Undecided.
    Open(Finding),
}

/// Decides whether an array's own document or its copy is right, if they differ in more than the attributes.
pub(super) fn judge(session: &Session<'_>, array: &Array) -> Result<Verdict> {
    let Some((copy, said)) = differing(session, array)? else { return Ok(Verdict::Own) };
    let place = array.location().as_stored();
    let Ok(Node::Array(other)) = Node::new(place.clone(), NodeMetadata::Array(said)) else {
        return Ok(Verdict::Own);
    };
    let fits = Fits::of(array, &other)?;
    if fits.own && !fits.copy {
        return Ok(Verdict::Own);
    }
    let is_shrunk = is_shrunk(array, &other);
    let is_copy_right = fits.copy && !fits.own && !is_shrunk;
    let documents = Lost::of_copy(&place, &copy, other.metadata()).filter(|_| is_copy_right);
    let told = match (&documents, fits.own) {
        (Some(_), _) => "the stored chunks fit the copy, and not the document",
        (None, false) if fits.copy && is_shrunk => {
            "chunks are stored outside of the smaller shape, as after an interrupted resize, so either may be right"
        }
        (None, true) => "the stored chunks fit both, so either may be right",
        (None, false) => "the stored chunks fit neither",
    };
    let message = format!(
        "its document says {}, and the consolidated metadata of '{}' says {}; {told}",
        summary(array),
        copy.group,
        summary(&other)
    );
    let finding =
        |remedy| Finding::new(FindingKind::DisputedDocument, array.path().as_str(), message, remedy);
    Ok(match documents {
        Some(documents) => {
            Verdict::Copy { array: Box::new(other), documents, finding: finding(Remedy::Restore) }
        }
        None => {
            let why = "correct the one that is wrong: the array's document, or the copy, which `zarrox consolidate` rewrites";
            Verdict::Open(finding(Remedy::Nothing(why.to_owned())))
        }
    })
}

/// Returns true if the stored chunks may belong to an array: all of them are in its grid, and at least one chunk of a sample can
/// be decoded.
pub(super) fn fits(array: &Array) -> Result<bool> {
    let place = array.location();
    if !place.store.capabilities().listable {
        return Ok(true);
    }
    let (encoding, prefix) = (array.raw().key_encoding()?, array.chunks_prefix());
    let (mut targets, mut is_inside) = (Vec::new(), true);
    place.store.list_prefix(prefix, &mut |key, size| {
        let Some(chunk) = encoding.decode(&key.as_str()[prefix.as_str().len()..], array.ndim()) else {
            return ControlFlow::Continue(());
        };
        is_inside = array.has_chunk(&chunk);
        if is_inside && targets.len() < DECODED {
            targets.push(Target { key, chunk, size });
        }
        if is_inside { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    if !is_inside || targets.is_empty() {
        return Ok(is_inside);
    }
    for target in &targets {
        if is_whole(array, target)? == Some(true) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns true if a stored chunk can be decoded; `None` if it cannot be read.
fn is_whole(array: &Array, target: &Target) -> Result<Option<bool>> {
    match chunks::is_whole(array, target) {
        Err(error) if is_undecided(&error) => Err(error),
        known => Ok(known.ok()),
    }
}

/// Returns the nearest copy of the array's documents, and the array that it describes, if they differ.
fn differing(
    session: &Session<'_>,
    array: &Array,
) -> Result<Option<(Arc<ConsolidatedMetadata>, ArrayMetadata)>> {
    let (place, format) = (array.location().as_stored(), array.metadata().format);
    for path in place.path.ancestors().into_iter().rev() {
        let Some(copy) = session.copy_at(&place.at(path), format) else { continue };
        let copied = place.clone().with_copy(Some(copy.clone()));
        let Ok(Some(NodeMetadata::Array(said))) = copied.find_node() else { continue };
        let is_same = place.is_same_array(&said, array.metadata()).unwrap_or(true);
        return Ok((!is_same).then_some((copy, said)));
    }
    Ok(None)
}

/// Returns true if an array differs from its copy only in a smaller shape.
fn is_shrunk(own: &Array, copy: &Array) -> bool {
    let mut as_long = copy.metadata().clone();
    as_long.shape.clone_from(&own.metadata().shape);
    let is_within = own.shape().iter().zip(copy.shape()).all(|(own, copy)| own <= copy);
    is_within && own.location().is_same_array(&as_long, own.metadata()).unwrap_or(false)
}

/// Whether the stored chunks fit the array's own documents, and whether they fit the copy.
struct Fits {
    own: bool,
    copy: bool,
}

impl Fits {
    fn of(own: &Array, copy: &Array) -> Result<Self> {
        let mut fits = Self { own: true, copy: true };
        let place = own.location();
        if !place.store.capabilities().listable {
            return Ok(fits);
        }
        let ways = (own.raw().key_encoding()?, copy.raw().key_encoding()?);
        let prefix = own.chunks_prefix();
        let mut both = Vec::new();
        place.store.list_prefix(prefix, &mut |key, size| {
            let name = &key.as_str()[prefix.as_str().len()..];
            let in_own = ways.0.decode(name, own.ndim()).filter(|chunk| own.has_chunk(chunk));
            let in_copy = ways.1.decode(name, copy.ndim()).filter(|chunk| copy.has_chunk(chunk));
            match (in_own, in_copy) {
                (Some(in_own), Some(in_copy)) if both.len() < DECODED => {
                    both.push((key, size, in_own, in_copy));
                }
                (Some(_), None) => fits.copy = false,
                (None, Some(_)) => fits.own = false,
                _ => {}
            }
            if fits.own || fits.copy { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        for (key, size, in_own, in_copy) in both {
            place.context.interrupt.check()?;
            let target = |chunk| Target { key: key.clone(), chunk, size };
            let (Some(of_own), Some(of_copy)) =
                (is_whole(own, &target(in_own))?, is_whole(copy, &target(in_copy))?)
            else {
                continue;
            };
            // A chunk that cannot be decoded with either metadata is not evidence.
            fits.own &= of_own || !of_copy;
            fits.copy &= of_copy || !of_own;
        }
        Ok(fits)
    }
}

/// Describes the metadata that affects the chunks of an array.
fn summary(array: &Array) -> String {
    format!(
        "{} of shape {:?}, chunks {:?}, fill value {}",
        array.data_type(),
        array.shape(),
        array.chunk_grid().largest_chunk(),
        array.format_element(array.fill_bytes().as_bytes()).unwrap_or_else(|_| "?".to_owned())
    )
}
