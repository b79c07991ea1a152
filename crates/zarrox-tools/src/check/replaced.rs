//! Nodes that were set aside while another one was moved to their path.

use std::ops::ControlFlow;

use zarrox_core::internals::metadata::Extent;
use zarrox_core::{Error, NodePath, Result};
use zarrox_stores::{Key, Prefix, StoreExt};

use super::finding::{Finding, FindingKind, Remedy};
use super::session::Session;
use zarrox::internals::{Found, Location, format_of};

/// The state of a node after checking whether it was set aside.
pub(super) enum NodeState {
    /// The node was not moved.
    Unmoved,
    /// The node was moved back to this location, which is not yet checked.
    MovedBack(Location),
    /// The node was deleted, or its repair failed.
    Gone,
}

/// Reports a node that was set aside, and returns its current location.
pub(super) fn check(session: &Session<'_>, place: &Location) -> Result<NodeState> {
    let Some(original) = original(&place.path) else { return Ok(NodeState::Unmoved) };
    let Ok(Some(found)) = place.find() else { return Ok(NodeState::Unmoved) };
    let original = place.as_stored().at(original);
    let is_taken = !matches!(original.find(), Ok(None));
    let (message, remedy) = match is_taken {
        true => {
            ("it was replaced by a node that was moved to its path, but was not deleted", Remedy::Quarantine)
        }
        false => {
            let remedy = match check_move(place, &original, &found) {
                Ok(()) => Remedy::MoveBack,
                Err(error) => Remedy::Nothing(format!("it cannot be moved back to its path: {error}")),
            };
            ("it was set aside for a node that was not moved to its path", remedy)
        }
    };
    let finding = Finding::new(FindingKind::ReplacedNode, place.path.as_str(), message, remedy);
    let is_left = session.repairs() && finding.remedy.is_possible();
    let mut now = if is_left { NodeState::Gone } else { NodeState::Unmoved };
    session.settle(vec![finding], || {
        let layout = found.location.layout_for(format_of(&found.node))?;
        // A process that moves another node to the path holds the lock of the path.
        let is_as_judged = || Ok(matches!(original.find(), Ok(None)) != is_taken && place.is_explicit()?);
        Session::repair_alone(&original, &layout, is_as_judged, || {
            if is_taken {
                let extent = layout.extent(&place.path);
                set_aside(session, &extent)?;
                return place.erase_all(extent);
            }
            place.as_stored().move_node(&original, false)?;
            now = NodeState::MovedBack(original.clone());
            Ok(())
        })
    })?;
    Ok(now)
}

/// Checks that a node can be moved back.
fn check_move(place: &Location, original: &Location, found: &Found) -> Result<()> {
    original.check_ancestors(format_of(&found.node))?;
    place.as_stored().mark()?;
    original.mark().map(drop)
}

/// Returns the path of a node before it was set aside.
fn original(path: &NodePath) -> Option<NodePath> {
    let (original, number) = path.as_str().rsplit_once(".replaced")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let has_name = !original.is_empty() && !original.ends_with('/');
    if is_number && has_name { NodePath::new(original).ok() } else { None }
}

/// Copies all objects of a node to the quarantine.
pub(super) fn set_aside(session: &Session<'_>, extent: &Extent) -> Result<()> {
    let store = &session.start.store;
    let keep = |key: &Key| match store.open(key)? {
        Some(value) => session.quarantine.keep(key, &*value).map(drop),
        None => Ok(()),
    };
    let mut kept = extent.keys.iter().try_for_each(|key| keep(&Key::new(key.as_str())?));
    for prefix in &extent.prefixes {
        store.list_prefix(&Prefix::new(prefix.as_str())?, &mut |key, _| {
            kept = kept.clone().and_then(|()| keep(&key));
            if kept.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
    }
    kept.map_err(|error: Error| error.at("nothing was deleted"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_nodes_that_were_put_aside_are_known() {
        let of = |path: &str| original(&NodePath::new(path).unwrap()).map(|path| path.as_str().to_owned());
        assert_eq!(of("a/b.replaced0").as_deref(), Some("a/b"));
        assert_eq!(of("a.replaced12").as_deref(), Some("a"));
        for other in ["a", "a.replaced", "a.replacedx", "a/.replaced0"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
