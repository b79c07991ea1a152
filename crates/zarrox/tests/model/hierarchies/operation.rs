//! One operation on a hierarchy.

use zarrox_testkit::choices::Choices;

/// An operation by one of the two handles.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    /// The handle: 0 or 1.
    pub(crate) handle: usize,
    pub(crate) path: String,
    /// The number of an existing node that is used instead of the path: the number of an array, if the action needs an array.
    /// Random paths would rarely be paths of existing nodes.
    pub(crate) existing: Option<usize>,
    pub(crate) action: Action,
}

#[derive(Debug, Clone)]
pub(crate) enum Action {
    /// Writes `value` to the box from `start` with these lengths, clipped to the array.
    Write {
        start: [u64; 2],
        lengths: [u64; 2],
        value: i32,
    },
    CreateArray {
        shape: [u64; 2],
        chunks: [u64; 2],
        is_sharded: bool,
    },
    CreateGroup,
    RequireGroup,
    Resize {
        shape: [u64; 2],
    },
    Append {
        axis: usize,
        length: u64,
        value: i32,
    },
    SetAttribute {
        name: &'static str,
        value: u64,
    },
    RemoveAttribute {
        name: &'static str,
    },
    Delete,
    Move {
        to: String,
    },
    EraseChunk {
        index: [u64; 2],
    },
    Consolidate,
    DropConsolidated,
    /// Opens the handle again, and its arrays when they are next used.
    Reopen,
}

const NAMES: [&str; 3] = ["a", "b", "c"];
const ATTRIBUTES: [&str; 2] = ["x", "y"];

impl Operation {
    pub(crate) fn choose(choices: &mut Choices) -> Self {
        let handle = choices.below(2);
        let path = path(choices);
        let existing = (!choices.one_in(6)).then(|| choices.below(64));
        let two =
            |choices: &mut Choices, most: usize| [choices.below(most) as u64, choices.below(most) as u64];
        let value = |choices: &mut Choices| i32::try_from(choices.below(99)).unwrap() + 1;
        let action = match choices.below(26) {
            0..=5 => {
                let (start, lengths) = (two(choices, 8), two(choices, 6).map(|length| length + 1));
                Action::Write { start, lengths, value: value(choices) }
            }
            6..=8 => {
                let (shape, chunks) = (two(choices, 7), two(choices, 4).map(|length| length + 1));
                Action::CreateArray { shape, chunks, is_sharded: choices.one_in(2) }
            }
            9 => Action::CreateGroup,
            10 => Action::RequireGroup,
            11..=13 => Action::Resize { shape: two(choices, 9) },
            14..=15 => {
                let (axis, length) = (choices.below(2), choices.below(4) as u64);
                Action::Append { axis, length, value: value(choices) }
            }
            16..=17 => {
                Action::SetAttribute { name: choices.pick(&ATTRIBUTES), value: choices.below(9) as u64 }
            }
            18 => Action::RemoveAttribute { name: choices.pick(&ATTRIBUTES) },
            19 => Action::Delete,
            20..=21 => Action::Move { to: self::path(choices) },
            22 => Action::EraseChunk { index: two(choices, 4) },
            23 => Action::Consolidate,
            24 => Action::DropConsolidated,
            _ => Action::Reopen,
        };
        Self { handle, path, existing, action }
    }
}

impl Action {
    /// Returns true if the operation needs an existing node.
    pub(crate) fn is_of_existing(&self) -> bool {
        self.is_of_elements()
            || matches!(
                self,
                Self::SetAttribute { .. } | Self::RemoveAttribute { .. } | Self::Delete | Self::Move { .. }
            )
    }

    /// Returns true if the operation needs an array.
    pub(crate) fn is_of_elements(&self) -> bool {
        matches!(
            self,
            Self::Write { .. } | Self::Resize { .. } | Self::Append { .. } | Self::EraseChunk { .. }
        )
    }
}

/// Returns a path of one to three names.
fn path(choices: &mut Choices) -> String {
    let depth = choices.pick(&[1, 1, 1, 2, 2, 3]);
    (0..depth).map(|_| choices.pick(&NAMES)).collect::<Vec<_>>().join("/")
}
