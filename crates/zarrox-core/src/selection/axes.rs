//! The memory of a result, viewed with one axis for each axis of the selection.

use super::indexing::{ResolvedAxis, ResolvedSelection, ResultAxis};
use crate::strided::{Dims, View, ViewMut};

/// The operations on axes that read views and write views have in common.
pub trait Axes: Sized {
    /// Returns the view without an axis of length 1.
    #[must_use]
    fn without_axis(self, dim: usize) -> Self;
    /// Returns the view with permuted axes: new axis `i` is old axis `order[i]`.
    #[must_use]
    fn permuted(self, order: &[usize]) -> Self;
    /// Returns the view with one axis reversed.
    #[must_use]
    fn reversed(self, dim: usize) -> Self;
    /// Returns the view with `count` axes from `dim` on merged into one. Returns `None` if their elements are not evenly spaced
    /// in memory.
    fn merged(self, dim: usize, count: usize) -> Option<Self>;
}

macro_rules! impl_axes {
    ($View:ident) => {
        impl Axes for $View<'_> {
            fn without_axis(self, dim: usize) -> Self {
                $View::without_axis(self, dim)
            }

            fn permuted(self, order: &[usize]) -> Self {
                $View::permuted(self, order)
            }

            fn reversed(self, dim: usize) -> Self {
                $View::reversed(self, dim)
            }

            fn merged(self, dim: usize, count: usize) -> Option<Self> {
                $View::merged(self, dim, count)
            }
        }
    };
}

impl_axes!(View);
impl_axes!(ViewMut);

/// Returns a view of a result without its new axes, and with the other axes in the order of the array's axes.
#[inline]
pub fn ordered<V: Axes>(resolved: &ResolvedSelection, mut view: V) -> V {
    let mut kept = Dims::new();
    for (dim, axis) in resolved.result.iter().enumerate().rev() {
        match *axis {
            ResultAxis::New => view = view.without_axis(dim),
            ResultAxis::Of { axis, part } => kept.push((axis, part)),
        }
    }
    kept.reverse();
    let mut order: Dims<usize> = (0..kept.len()).collect();
    order.sort_by_key(|&dim| kept[dim]);
    if order.is_sorted() { view } else { view.permuted(&order) }
}

/// Returns the view with one axis for each axis of the selection. Evenly spaced positions are in ascending order along their
/// axis. Returns `None` if points have several axes in the view that cannot be merged, because their elements are not evenly
/// spaced in memory.
pub fn merged<V: Axes>(resolved: &ResolvedSelection, mut view: V) -> Option<V> {
    for (dim, axis) in resolved.axes.iter().enumerate() {
        let parts = |of: &&ResultAxis| matches!(of, ResultAxis::Of { axis, .. } if *axis == dim);
        let parts = resolved.result.iter().filter(parts).count();
        if parts != 1 {
            view = view.merged(dim, parts)?;
        }
        if matches!(axis, ResolvedAxis::Span(span) if span.reversed && parts == 1) {
            view = view.reversed(dim);
        }
    }
    Some(view)
}
