//! All operations that only read a hierarchy. They must not panic.

use std::sync::Arc;

use zarrox::stores::Store;
use zarrox::{Consolidated, DynArray, Group, Node};

use crate::elements::{options, walk};

/// The depth of trees.
const DEPTH: usize = 6;

/// Opens the nodes in every way, lists them, and reads the start of every array.
pub(crate) fn all(store: &Arc<dyn Store>, root: &str) {
    for strict in [false, true] {
        for consolidated in [Consolidated::Auto, Consolidated::Never, Consolidated::Require] {
            let options = options().strict(strict).consolidated(consolidated).mode(zarrox::OpenMode::Read);
            if let Ok(Node::Group(group)) = options.open((store.clone(), root)) {
                group_of(&group);
            }
        }
    }
}

fn group_of(group: &Group) {
    let _ = group.tree_to_depth(DEPTH).map(|tree| tree.to_string());
    let _ = group.check_consolidated();
    let _ = group.document();
    let _ = (group.arrays(), group.groups());
    walk(group, "", DEPTH, &mut |_, array| {
        let _ = (array.raw().key_encoding(), array.fill_bytes(), array.to_string());
        let first = vec![0_u64; array.ndim()];
        let _ = array.raw().read(&first);
        let position: Vec<_> = first.iter().map(|_| zarrox::DimSelection::from(0..1)).collect();
        let _ = array.read::<DynArray>(position);
    });
}
