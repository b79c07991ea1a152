//! Composition of selections, without reading.
//!
//! The second selection is resolved against the shape of the first selection's result. Axes of the two selections that have an
//! axis of that result in common are composed, and all other axes are unchanged: a slice of a slice is a slice, and any other
//! combination becomes listed points.

use std::borrow::Cow;
use std::sync::Arc;

use super::super::partition::advance;
use super::arrays::reserved;
use super::joint::point_count;
use super::positions::{single, spaced};
use super::{Points, ResolvedAxis, ResolvedSelection, ResolvedSpan, ResultAxis, Selection};
use crate::error::{Error, ErrorKind, Result};
use crate::scratch::Positions;

impl ResolvedSelection {
    /// Selects from the result of this selection.
    ///
    /// # Errors
    /// When the selection does not fit the result. The message names axes of the result.
    pub fn select(&self, selection: &Selection) -> Result<Self> {
        let second = selection.resolve(&self.shape())?;
        let composing = Composing { first: self, second: &second };
        let mut axes = Vec::new();
        let mut places = vec![Vec::new(); second.axes.len()];
        for component in composing.components() {
            composing.compose(&component, &mut axes, &mut places)?;
        }
        let result = second.result.iter().map(|axis| match *axis {
            ResultAxis::New => ResultAxis::New,
            ResultAxis::Of { axis, part } => places[axis][part],
        });
        let result = result.collect();
        Ok(Self::in_order(axes, result))
    }
}

/// Two selections, of which the second selects from the result of the first.
struct Composing<'a> {
    first: &'a ResolvedSelection,
    second: &'a ResolvedSelection,
}

/// Axes that are composed together, because they have axes of the first result in common.
#[derive(Debug, Default)]
struct Component {
    /// Axes of the first selection.
    first: Vec<usize>,
    /// Axes of the second selection.
    second: Vec<usize>,
}

/// The positions of all points, along each of several dimensions.
type Lists = Vec<(usize, Arc<Positions>)>;

/// Axes of the second selection, and the joint shape of their positions.
struct Layout {
    /// For each axis of the second selection in the component, the index of its first part in the shape, and the number of its
    /// parts.
    blocks: Vec<(usize, usize)>,
    shape: Vec<usize>,
    /// The number of elements of the shape.
    count: usize,
}

impl Composing<'_> {
    fn components(&self) -> Vec<Component> {
        let mut components: Vec<Component> =
            (0..self.first.axes.len()).map(|axis| Component { first: vec![axis], second: vec![] }).collect();
        for (number, axis) in self.second.axes.iter().enumerate() {
            let met: Vec<usize> = axis.dims().iter().filter_map(|&dim| self.source(dim)).collect();
            let (common, others): (Vec<_>, Vec<_>) = components
                .into_iter()
                .partition(|component| component.first.iter().any(|axis| met.contains(axis)));
            let mut joined = Component { first: vec![], second: vec![number] };
            for component in common {
                joined.first.extend(component.first);
                joined.second.extend(component.second);
            }
            components = others;
            components.push(joined);
        }
        self.attach_unconnected_axes(&mut components);
        // Points keep the order of the result, because a write keeps the last value for each element.
        for component in &mut components {
            component.second.sort_by_key(|&number| self.places_in_result(number).next());
        }
        components
    }

    /// Returns the positions of the parts of an axis of the second selection in its result.
    fn places_in_result(&self, number: usize) -> impl Iterator<Item = usize> {
        let is_of = move |of: &ResultAxis| matches!(of, ResultAxis::Of { axis, .. } if *axis == number);
        self.second.result.iter().enumerate().filter(move |(_, of)| is_of(of)).map(|(place, _)| place)
    }

    /// Adds the axes that select only from new axes to another component: repeating or removing the single element of a new axis
    /// repeats or removes elements of another axis.
    fn attach_unconnected_axes(&self, components: &mut Vec<Component>) {
        let homeless = |component: &Component| component.first.is_empty() && !self.is_single(component);
        let (without, mut others): (Vec<_>, Vec<_>) =
            std::mem::take(components).into_iter().partition(homeless);
        let cost = |component: &Component| {
            let shapes = component.first.iter().flat_map(|&axis| self.first.axes[axis].shape());
            shapes.fold(1, u64::saturating_mul)
        };
        let cheapest =
            (0..others.len()).filter(|&at| !others[at].first.is_empty()).min_by_key(|&at| cost(&others[at]));
        match cheapest {
            Some(at) => others[at].second.extend(without.into_iter().flat_map(|component| component.second)),
            None => others.extend(without),
        }
        *components = others;
    }

    /// Returns true if the axes of the second selection select one element.
    fn is_single(&self, component: &Component) -> bool {
        component.second.iter().all(|&axis| self.second.axes[axis].shape().iter().all(|&length| length == 1))
    }

    /// Returns the axis of the first selection from which an axis of its result comes.
    fn source(&self, dim: usize) -> Option<usize> {
        match self.first.result[dim] {
            ResultAxis::New => None,
            ResultAxis::Of { axis, .. } => Some(axis),
        }
    }

    /// Returns true if the second result keeps an axis of the second selection.
    fn is_kept(&self, number: usize) -> bool {
        self.second.result.iter().any(|of| matches!(of, ResultAxis::Of { axis, .. } if *axis == number))
    }

    fn compose(
        &self,
        component: &Component,
        axes: &mut Vec<ResolvedAxis>,
        places: &mut [Vec<ResultAxis>],
    ) -> Result<()> {
        if let &[first] = component.first.as_slice() {
            if component.second.iter().all(|&second| self.is_untouched(second)) {
                for &second in &component.second {
                    let dims = self.second.axes[second].dims().iter();
                    places[second] = dims.map(|&dim| self.place(dim, axes.len())).collect();
                }
                axes.push(self.first.axes[first].clone());
                return Ok(());
            }
            if let Some((second, span)) = self.span_of_span(first, component) {
                places[second] = vec![ResultAxis::Of { axis: axes.len(), part: 0 }];
                axes.push(ResolvedAxis::Span(span));
                return Ok(());
            }
        }
        let layout = self.layout(component)?;
        let order = self.order_in_result(component);
        let (lists, shape) = transposed(self.points(component, &layout)?, &layout.shape, &order)?;
        let (new_axes, new_parts) = normal_form(lists, &shape);
        let mut parts = vec![None; order.len()];
        order.iter().zip(new_parts).for_each(|(&at, part)| parts[at] = part);
        let place = |part: &Option<usize>| match *part {
            None => ResultAxis::New,
            Some(part) => ResultAxis::Of { axis: axes.len(), part },
        };
        for (&second, &(begin, count)) in component.second.iter().zip(&layout.blocks) {
            places[second] = parts[begin..begin + count].iter().map(place).collect();
        }
        axes.extend(new_axes);
        Ok(())
    }

    /// Returns the span of a component whose two axes are spans, and the axis of the second selection.
    fn span_of_span(&self, first: usize, component: &Component) -> Option<(usize, ResolvedSpan)> {
        let &[second] = component.second.as_slice() else { return None };
        match (&self.first.axes[first], &self.second.axes[second]) {
            (ResolvedAxis::Span(outer), ResolvedAxis::Span(inner))
                if self.source(inner.dim) == Some(first) =>
            {
                Some((second, span_of_span(outer, inner)))
            }
            _ => None,
        }
    }

    /// Returns the position of an axis of the first result in the new result; `number` is the index of the composed axis that it
    /// comes from.
    fn place(&self, dim: usize, number: usize) -> ResultAxis {
        match self.first.result[dim] {
            ResultAxis::New => ResultAxis::New,
            ResultAxis::Of { part, .. } => ResultAxis::Of { axis: number, part },
        }
    }

    /// Returns true if an axis of the second selection selects all positions in order, and the result keeps it.
    fn is_untouched(&self, number: usize) -> bool {
        let ResolvedAxis::Span(span) = &self.second.axes[number] else { return false };
        let length = match self.first.result[span.dim] {
            ResultAxis::New => 1,
            ResultAxis::Of { axis, part } => self.first.axes[axis].shape()[part],
        };
        span.start == 0 && span.count == length && !span.reversed && self.is_kept(number)
    }

    /// Returns the axes of a component's layout in the order of the result. The parts of one axis may be on both sides of the
    /// parts of another axis.
    fn order_in_result(&self, component: &Component) -> Vec<usize> {
        let places = component.second.iter().flat_map(|&number| self.places_in_result(number));
        let places: Vec<usize> = places.collect();
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|&at| places[at]);
        order
    }

    fn layout(&self, component: &Component) -> Result<Layout> {
        let (mut blocks, mut shape) = (Vec::new(), Vec::new());
        for &number in &component.second {
            let begin = shape.len();
            if self.is_kept(number) {
                let lengths = self.second.axes[number].shape();
                shape.extend(lengths.iter().map(|&length| usize::try_from(length).unwrap_or(usize::MAX)));
            }
            blocks.push((begin, shape.len() - begin));
        }
        let count = point_count(&shape)?;
        Ok(Layout { blocks, shape, count })
    }

    /// Returns the positions of all points along each array dimension of the component, in ascending order of the dimensions.
    fn points(&self, component: &Component, layout: &Layout) -> Result<Lists> {
        let mut lists = Lists::new();
        let picked = self.picked(component, layout)?;
        for &number in &component.first {
            let axis = &self.first.axes[number];
            if layout.count == 0 {
                lists.extend(axis.dims().iter().map(|&dim| (dim, Arc::default())));
                continue;
            }
            let mut parts: Vec<&Picked> =
                picked.iter().filter(|picked| picked.axis == Some(number)).collect();
            parts.sort_by_key(|picked| picked.part);
            match axis {
                ResolvedAxis::Span(span) => lists.push((span.dim, span_points(span, &parts, layout)?)),
                ResolvedAxis::Points(points) => lists.extend(list_points(points, &parts, layout)?),
                ResolvedAxis::Mask(masked) => {
                    lists.extend(list_points(&masked.to_points()?, &parts, layout)?);
                }
            }
        }
        lists.sort_by_key(|(dim, _)| *dim);
        Ok(lists)
    }

    /// Returns the positions that the second selection selects along each axis of the first result.
    fn picked(&self, component: &Component, layout: &Layout) -> Result<Vec<Picked>> {
        let mut picked = Vec::new();
        if layout.count == 0 {
            return Ok(picked);
        }
        for (&number, &block) in component.second.iter().zip(&layout.blocks) {
            let mut pick = |dim: usize, list: Arc<Positions>| {
                let (axis, part) = match self.first.result[dim] {
                    ResultAxis::New => (None, 0),
                    ResultAxis::Of { axis, part } => (Some(axis), part),
                };
                picked.push(Picked { axis, part, list, block });
            };
            match &self.second.axes[number] {
                ResolvedAxis::Span(span) => pick(span.dim, Arc::new(listed(span)?)),
                ResolvedAxis::Points(points) => {
                    points
                        .dims
                        .iter()
                        .zip(&points.coordinates)
                        .for_each(|(&dim, list)| pick(dim, list.clone()));
                }
                ResolvedAxis::Mask(masked) => {
                    let lists = masked.mask.nonzero()?;
                    masked.dims.iter().zip(lists).for_each(|(&dim, list)| pick(dim, Arc::new(list)));
                }
            }
        }
        Ok(picked)
    }
}

/// Elements along an axis of the first result.
struct Picked {
    /// The axis of the first selection, and the index of its part; `None` for a new axis.
    axis: Option<usize>,
    part: usize,
    /// The selected elements.
    list: Arc<Positions>,
    /// The part of the layout's shape along which the list varies.
    block: (usize, usize),
}

impl Picked {
    /// Returns the list for every point of the layout.
    fn expanded(&self, layout: &Layout) -> Result<Cow<'_, Positions>> {
        if self.list.len() == layout.count {
            return Ok(Cow::Borrowed(&self.list));
        }
        let (begin, count) = self.block;
        let outer: usize = layout.shape[..begin].iter().product();
        let inner: usize = layout.shape[begin + count..].iter().product();
        let mut out = reserved(layout.count)?;
        for _ in 0..outer {
            match inner {
                1 => out.extend_from_slice(&self.list),
                _ => self.list.iter().for_each(|&value| out.extend(std::iter::repeat_n(value, inner))),
            }
        }
        Ok(Cow::Owned(out))
    }
}

/// Returns the span that `inner` selects from the positions of `outer`.
fn span_of_span(outer: &ResolvedSpan, inner: &ResolvedSpan) -> ResolvedSpan {
    let reversed = inner.count > 1 && outer.reversed != inner.reversed;
    if inner.count == 0 {
        return ResolvedSpan { start: 0, step: 1, count: 0, reversed, ..*outer };
    }
    let last = inner.start + (inner.count - 1) * inner.step;
    let start = outer.position(inner.start).min(outer.position(last));
    let step = if inner.count > 1 { outer.step * inner.step } else { 1 };
    ResolvedSpan { start, step, count: inner.count, reversed, ..*outer }
}

/// Returns the positions of a span in the order of the result. The result has at least as many elements as the span.
fn listed(span: &ResolvedSpan) -> Result<Positions> {
    let count = usize::try_from(span.count).unwrap_or(usize::MAX);
    let mut list = reserved(count)?;
    list.extend(0..count);
    move_onto(span, &mut list)?;
    Ok(list)
}

/// Converts indices of a span's elements, in the order of the result, to positions.
fn move_onto(span: &ResolvedSpan, list: &mut [usize]) -> Result<()> {
    let highest = span.start + span.count.saturating_sub(1) * span.step;
    if usize::try_from(highest).is_err() {
        let message = format!("position {highest} of axis {} is too large for a list of positions", span.dim);
        return Err(Error::new(ErrorKind::LimitExceeded, message));
    }
    #[expect(clippy::cast_possible_truncation, reason = "all positions are at most the highest, which fits")]
    list.iter_mut().for_each(|n| *n = span.position(*n as u64) as usize);
    Ok(())
}

/// Returns the selected positions of a span, or its only position if nothing selects from it.
fn span_points(span: &ResolvedSpan, parts: &[&Picked], layout: &Layout) -> Result<Arc<Positions>> {
    let mut list = match parts.first() {
        Some(picked) => picked.expanded(layout)?.into_owned(),
        None => repeated(0, layout.count)?,
    };
    move_onto(span, &mut list)?;
    Ok(Arc::new(list))
}

/// Returns selected points of a list.
fn list_points(points: &Points, parts: &[&Picked], layout: &Layout) -> Result<Lists> {
    let places = places_in_list(points, parts, layout)?;
    let pick = |(&dim, list): (&usize, &Arc<Positions>)| {
        let mut out = reserved(layout.count)?;
        out.extend(places.iter().map(|&place| list[place]));
        Ok((dim, Arc::new(out)))
    };
    points.dims.iter().zip(&points.coordinates).map(pick).collect()
}

/// Returns the indices of the selected points in a list of points, from their positions along each of its dimensions.
fn places_in_list<'a>(points: &Points, parts: &[&'a Picked], layout: &Layout) -> Result<Cow<'a, Positions>> {
    let mut places: Option<Cow<'a, Positions>> = None;
    for picked in parts {
        let expanded = picked.expanded(layout)?;
        places = Some(match places {
            None => expanded,
            Some(places) => {
                let mut places = places.into_owned();
                let length = points.shape[picked.part];
                places.iter_mut().zip(expanded.iter()).for_each(|(place, &at)| *place = *place * length + at);
                Cow::Owned(places)
            }
        });
    }
    match places {
        Some(places) => Ok(places),
        None => repeated(0, layout.count).map(Cow::Owned),
    }
}

fn repeated(value: usize, count: usize) -> Result<Positions> {
    let mut list = reserved(count)?;
    list.resize(count, value);
    Ok(list)
}

/// Returns the points with the dimensions of their shape permuted, and the new shape.
fn transposed(lists: Lists, shape: &[usize], order: &[usize]) -> Result<(Lists, Vec<usize>)> {
    let new_shape: Vec<usize> = order.iter().map(|&at| shape[at]).collect();
    if order.is_sorted() {
        return Ok((lists, new_shape));
    }
    let step = |&at: &usize| shape[at + 1..].iter().product::<usize>();
    let steps: Vec<usize> = order.iter().map(step).collect();
    let turned = |(dim, list): (usize, Arc<Positions>)| {
        let mut out = reserved(list.len())?;
        let mut place = vec![0; order.len()];
        for _ in 0..list.len() {
            out.push(list[place.iter().zip(&steps).map(|(place, step)| place * step).sum::<usize>()]);
            advance(&mut place, &new_shape, |_| 0);
        }
        Ok((dim, Arc::new(out)))
    };
    let lists = lists.into_iter().map(turned).collect::<Result<_>>()?;
    Ok((lists, new_shape))
}

/// Returns points as the simplest possible axes. For each dimension of the points' shape, also returns the corresponding part of
/// these axes, or `None` if the dimension has length 1.
fn normal_form(lists: Lists, shape: &[usize]) -> (Vec<ResolvedAxis>, Vec<Option<usize>>) {
    let long = |length: &usize| *length != 1;
    let before = |at: usize| shape[..at].iter().filter(|length| long(length)).count();
    let parts = (0..shape.len()).map(|at| long(&shape[at]).then(|| before(at))).collect();
    let shape: Vec<usize> = shape.iter().copied().filter(long).collect();
    if shape.is_empty() {
        let singles = lists.iter().filter_map(|(dim, list)| list.first().map(|&at| single(*dim, at as u64)));
        return (singles.map(ResolvedAxis::Span).collect(), parts);
    }
    if let ([(dim, list)], [_]) = (lists.as_slice(), shape.as_slice())
        && let Some(span) = spaced(*dim, list)
    {
        return (vec![ResolvedAxis::Span(span)], parts);
    }
    let (dims, coordinates): (Vec<usize>, Vec<Arc<Positions>>) = lists.into_iter().unzip();
    let (dims, coordinates) = (dims.into_iter().collect(), coordinates.into_iter().collect());
    (vec![ResolvedAxis::Points(Points { dims, coordinates, shape })], parts)
}
