//! A case: an array that is written and read step by step, together with a model of it.

use std::fmt::Debug;
use std::sync::Arc;

use ndarray::{ArrayD, ArrayViewD, Axis, IxDyn, Slice};
use zarrox::stores::Store;
use zarrox::{Array, ArrayView, DynArray, Element, Selection};

use crate::model::chosen::{Chosen, Kind};
use crate::model::oracle::{Expected, expected};
use crate::model::plan::{Elements, Plan, reopened};
use zarrox_testkit::choices::Choices;

/// The form in which values are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Give {
    Whole,
    /// Values in the other memory order.
    Transposed,
    /// Every second value of a larger array, backwards.
    Strided,
    /// Values for broadcasting: without their first axes, and with length 1 along the axes whose bits are set.
    Broadcast(usize),
    Scalar,
    /// Elements of a type that is known only at run time.
    Dynamic,
}

/// The form in which elements are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Take {
    New,
    RowMajor,
    ColumnMajor,
    Strided,
    Dynamic,
}

const TAKES: [Take; 5] = [Take::New, Take::RowMajor, Take::ColumnMajor, Take::Strided, Take::Dynamic];

/// Values that are written to a selection and read back.
#[derive(Debug)]
pub(crate) struct Step {
    chosen: Chosen,
    /// The second selection, which selects from the result of the first selection.
    then: Option<Chosen>,
    /// True if the selection is converted to text and parsed before it is used.
    by_text: bool,
    pub(crate) give: Give,
    take: Take,
    pub(crate) seed: usize,
}

#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) plan: Plan,
    pub(crate) steps: Vec<Step>,
}

impl Step {
    fn choose(choices: &mut Choices, plan: &Plan, kind: Kind, views: bool) -> Self {
        let blocks = plan.blocks();
        let counts: Vec<usize> = blocks.iter().map(Vec::len).collect();
        let chosen = Chosen::choose(choices, kind, &plan.shape, &counts);
        let then = views.then(|| {
            let shape = expected(&chosen, &plan.shape, &blocks).shape;
            let kind = choices.pick(&Kind::OF_VIEWS);
            Chosen::choose(choices, kind, &shape, &[])
        });
        let bits = choices.below(64);
        let give = [
            Give::Whole,
            Give::Broadcast(bits),
            Give::Transposed,
            Give::Strided,
            Give::Scalar,
            Give::Dynamic,
            Give::Whole,
        ];
        Self {
            chosen,
            then,
            by_text: choices.one_in(4),
            give: choices.pick(&give),
            take: choices.pick(&TAKES),
            seed: choices.below(50),
        }
    }

    /// Returns the elements that the oracle selects.
    pub(crate) fn expected(&self, plan: &Plan) -> Expected {
        let blocks = plan.blocks();
        let first = expected(&self.chosen, &plan.shape, &blocks);
        match &self.then {
            None => first,
            Some(then) => first.then(&expected(then, &first.shape, &[])),
        }
    }

    /// Returns the selected part of the library's array.
    pub(crate) fn view<'a>(&self, array: &'a Array) -> ArrayView<'a> {
        let first = match self.chosen.text().filter(|_| self.by_text) {
            Some(text) => {
                let parsed: Selection = text.parse().unwrap();
                assert_eq!(parsed, self.chosen.selection(), "parsed from '{text}'");
                array.slice(parsed)
            }
            None => self.chosen.of(array),
        };
        self.then.as_ref().map_or_else(|| first.clone(), |then| then.of_view(&first))
    }

    /// Returns the shape of the given values, which are broadcast to the shape of the result.
    pub(crate) fn given_shape(&self, shape: &[usize]) -> Vec<usize> {
        let Give::Broadcast(bits) = self.give else {
            return if self.give == Give::Scalar { Vec::new() } else { shape.to_vec() };
        };
        let short = |axis: usize| bits >> (axis + 2) & 1 == 1;
        let dropped = (bits & 3).min(shape.len());
        (dropped..shape.len()).map(|axis| if short(axis) { 1 } else { shape[axis] }).collect()
    }

    /// Returns the values for a write, made from distinct numbers.
    pub(crate) fn given<T>(&self, shape: &[usize], value: impl Fn(usize) -> T) -> ArrayD<T> {
        let own = self.given_shape(shape);
        let count = own.iter().product::<usize>();
        let values = (0..count).map(|i| value(i + self.seed * 1000)).collect();
        ArrayD::from_shape_vec(IxDyn(&own), values).unwrap()
    }
}

impl Case {
    pub(crate) fn choose(choices: &mut Choices, elements: Elements, kinds: &[Kind], views: bool) -> Self {
        let plan = Plan::choose(choices, elements);
        let count = choices.below(4) + 1;
        let step = |_| {
            let kind = choices.pick(kinds);
            Step::choose(choices, &plan, kind, views)
        };
        let steps = (0..count).map(step).collect();
        Self { plan, steps }
    }
}

/// Sets the elements of a model. An element that is selected more than once gets the last of its values.
pub(crate) fn assign<T, U: Clone>(
    model: &mut [T],
    at: &Expected,
    given: &ArrayD<U>,
    set: impl Fn(&mut T, U),
) -> ArrayD<U> {
    let values = given.broadcast(at.shape.as_slice()).unwrap();
    at.at.iter().zip(values.iter()).for_each(|(&place, value)| set(&mut model[place], value.clone()));
    values.to_owned()
}

/// Returns the elements of a model that are selected.
pub(crate) fn selected<T, U>(model: &[T], at: &Expected, get: impl Fn(&T) -> U) -> ArrayD<U> {
    let values = at.at.iter().map(|&place| get(&model[place])).collect();
    ArrayD::from_shape_vec(IxDyn(&at.shape), values).unwrap()
}

/// Returns every second element of an array that is twice as large, backwards along the first axis.
fn strided<T>(larger: &mut ArrayD<T>) -> ndarray::ArrayViewMutD<'_, T> {
    let mut view = larger.view_mut().reversed_axes();
    for axis in 0..view.ndim() {
        let step = if axis == 0 { -2 } else { 2 };
        view.slice_axis_inplace(Axis(axis), Slice::new(0, None, step));
    }
    view
}

/// Returns an array for which [`strided`] has this shape.
fn larger<T: Clone>(shape: &[usize], value: T) -> ArrayD<T> {
    let shape: Vec<usize> = shape.iter().rev().map(|n| n * 2).collect();
    ArrayD::from_elem(IxDyn(&shape), value)
}

fn write<T: Element>(view: &ArrayView<'_>, give: Give, given: &ArrayD<T>) {
    match give {
        Give::Whole | Give::Broadcast(_) => view.write(given).unwrap(),
        Give::Transposed => {
            let columns = given.t().as_standard_layout().into_owned();
            view.write(columns.t()).unwrap();
        }
        Give::Strided => {
            let Some(&any) = given.first() else { return view.write(given).unwrap() };
            let mut apart = larger(given.shape(), any);
            let mut values = strided(&mut apart);
            values.assign(given);
            view.write(&values).unwrap();
        }
        Give::Scalar => view.write(ndarray::arr0(given[[]])).unwrap(),
        Give::Dynamic => view.write(DynArray::from_values(T::data_type(), given).unwrap()).unwrap(),
    }
}

fn read<T: Element + PartialEq + Debug>(
    view: &ArrayView<'_>,
    take: Take,
    shape: &[usize],
    other: T,
) -> ArrayD<T> {
    let mut out = ArrayD::from_elem(IxDyn(shape), other);
    match take {
        Take::New => out = view.read().unwrap(),
        Take::RowMajor => view.read_into(&mut out).unwrap(),
        Take::ColumnMajor => {
            let mut columns = out.reversed_axes().as_standard_layout().into_owned().reversed_axes();
            view.read_into(&mut columns).unwrap();
            out = columns;
        }
        Take::Strided => {
            let mut apart = larger(shape, other);
            view.read_into(strided(&mut apart)).unwrap();
            out.assign(&strided(&mut apart));
            strided(&mut apart).fill(other);
            assert!(apart.iter().all(|value| *value == other), "elements in between are unchanged");
        }
        Take::Dynamic => out = view.read::<DynArray>().unwrap().to().unwrap(),
    }
    out
}

fn equal<T: PartialEq + Debug>(found: &ArrayD<T>, wanted: &ArrayViewD<'_, T>, what: &str) {
    assert_eq!(found, wanted, "{what}");
}

/// Writes and reads through the library and through the model; they must agree after every step, and in the end.
pub(crate) fn check<T: Element + PartialEq + Debug>(
    case: &Case,
    store: &Arc<dyn Store>,
    fill: T,
    value: impl Fn(usize) -> T,
) {
    let plan = &case.plan;
    let array = plan.create(store.clone(), fill);
    let mut model = vec![fill; plan.shape.iter().product()];
    let meant: Vec<Expected> = case.steps.iter().map(|step| step.expected(plan)).collect();
    for (step, meant) in case.steps.iter().zip(&meant) {
        let view = step.view(&array);
        let shape: Vec<u64> = meant.shape.iter().map(|&n| n as u64).collect();
        assert_eq!(view.shape().unwrap(), shape, "the shape of the selection");
        let given = step.given(&meant.shape, |i| if step.seed % 4 == 3 { fill } else { value(i) });
        write(&view, step.give, &given);
        assign(&mut model, meant, &given, |element, value| *element = value);
        let found = read(&view, step.take, &meant.shape, value(999));
        equal(&found, &selected(&model, meant, |value| *value).view(), "read after writing");
    }
    let reopened = reopened(store);
    let all = ArrayD::from_shape_vec(IxDyn(&plan.shape), model.clone()).unwrap();
    equal(&reopened.read::<ArrayD<T>>(..).unwrap(), &all.view(), "everything, reopened");
    assert_eq!(reopened.codecs(), array.codecs(), "the codecs survive");
    for (number, (step, meant)) in case.steps.iter().zip(&meant).enumerate() {
        let found = read(&step.view(&reopened), TAKES[(number + step.seed) % 5], &meant.shape, value(999));
        equal(&found, &selected(&model, meant, |value| *value).view(), "a selection, reopened");
    }
}
