//! Invalid selections: every way to read and write returns the same error, which names the axis and the value, and writes
//! nothing.

use std::sync::Arc;

use ndarray::{ArrayD, IxDyn};
use zarrox::stores::{MemoryStore, Store};
use zarrox::{ArrayView, DimSelection, DynArray, Error, ErrorKind, IndexArray, Mask, Selection};

use crate::model::chosen::{Chosen, Kind, integers, slice, whole};
use crate::model::oracle::multi_index;
use crate::model::plan::{Elements, Plan, reopened};
use zarrox_testkit::choices::{Choices, run};

/// An invalid selection, and the expected text of the error.
#[derive(Debug)]
struct Mistake {
    wrong: Chosen,
    says: Vec<String>,
    /// True if the selection is made from a view of the whole array.
    in_view: bool,
}

#[derive(Debug)]
struct MistakeCase {
    plan: Plan,
    mistakes: Vec<Mistake>,
}

fn choose(choices: &mut Choices) -> MistakeCase {
    let plan = Plan::choose(choices, Elements::Numbers);
    let mistakes = (0..8).map(|_| mistake(choices, &plan)).collect();
    MistakeCase { plan, mistakes }
}

/// Returns an index that is just out of bounds, or far out of bounds.
fn outside(choices: &mut Choices, n: usize) -> i64 {
    let n = whole(n);
    choices.pick(&[n, -n - 1, n + 3, -n - 9, i64::MAX, i64::MIN])
}

fn out_of_bounds(index: i64, axis: usize, n: usize) -> Vec<String> {
    vec![format!("index {index} is out of bounds for axis {axis} with size {n}")]
}

fn mistake(choices: &mut Choices, plan: &Plan) -> Mistake {
    let shape = &plan.shape;
    let ndim = shape.len();
    let (kind, items, says) = match choices.below(if ndim == 0 { 3 } else { 12 }) {
        0 => too_many(choices, shape),
        1 => {
            let kind = choices.pick(&[Kind::Basic, Kind::Orthogonal]);
            (kind, vec![DimSelection::Ellipsis, DimSelection::Ellipsis], vec!["only one ellipsis".to_owned()])
        }
        2 => {
            let mask = Mask::new(vec![1; ndim + 1], vec![true]).unwrap();
            let says = vec![format!("{:?}", mask.shape()), format!("{shape:?}")];
            (Kind::Mask, vec![mask.into()], says)
        }
        3 | 4 => bad_index(choices, shape),
        5 | 6 => bad_array(choices, shape),
        7 => bad_mask(choices, shape),
        8 => {
            let axis = choices.below(ndim);
            let mut items = vec![DimSelection::ALL; ndim];
            items[axis] = slice(choices, shape[axis], 0);
            let kind = choices.pick(&[Kind::Basic, Kind::Orthogonal]);
            (kind, items, vec![format!("the slice step of axis {axis} cannot be zero")])
        }
        9 => bad_broadcast(choices, shape),
        10 => bad_block(choices, plan),
        _ => bad_coordinates(choices, shape),
    };
    let in_view = kind != Kind::Blocks && choices.one_in(3);
    Mistake { wrong: Chosen { kind, items }, says, in_view }
}

type Parts = (Kind, Vec<DimSelection>, Vec<String>);

fn too_many(choices: &mut Choices, shape: &[usize]) -> Parts {
    let count = shape.len() + 1 + choices.below(2);
    let kind = choices.pick(&[Kind::Basic, Kind::Mixed, Kind::Orthogonal, Kind::Coordinates, Kind::Blocks]);
    let mut items =
        vec![if kind == Kind::Coordinates { DimSelection::Index(0) } else { DimSelection::ALL }; count];
    if kind == Kind::Mixed {
        items[0] = IndexArray::new([1], vec![0]).unwrap().into();
    }
    (
        kind,
        items,
        vec![format!("{count} dimensions"), format!("the array has {}", shape.len()), format!("{shape:?}")],
    )
}

fn bad_index(choices: &mut Choices, shape: &[usize]) -> Parts {
    let axis = choices.below(shape.len());
    let index = outside(choices, shape[axis]);
    let kind = choices.pick(&[Kind::Basic, Kind::Orthogonal]);
    let mut items: Vec<DimSelection> = shape[..axis].iter().map(|&n| slice(choices, n, 1)).collect();
    items.push(DimSelection::Index(index));
    (kind, items, out_of_bounds(index, axis, shape[axis]))
}

/// Returns an array of indices. Exactly one index is out of bounds.
fn bad_array(choices: &mut Choices, shape: &[usize]) -> Parts {
    let axis = choices.below(shape.len());
    let n = shape[axis];
    let index = outside(choices, n);
    let kind = choices.pick(&[Kind::Mixed, Kind::Orthogonal, Kind::Coordinates]);
    let own = match kind {
        Kind::Orthogonal => vec![choices.below(5) + 1],
        _ => (0..choices.below(3)).map(|_| choices.below(3) + 1).collect(),
    };
    let count = own.iter().product();
    let mut values = if n == 0 { vec![index; count] } else { integers(choices, n, &own).values().to_vec() };
    values[choices.below(count)] = index;
    let array = DimSelection::from(IndexArray::new(own, values).unwrap());
    let items = match kind {
        // In an empty dimension every index is out of bounds: there would be several mistakes.
        Kind::Coordinates => {
            if shape.contains(&0) {
                return bad_index(choices, shape);
            }
            (0..shape.len())
                .map(|dim| if dim == axis { array.clone() } else { DimSelection::Index(0) })
                .collect()
        }
        _ => {
            let mut items: Vec<DimSelection> = shape[..axis].iter().map(|&n| slice(choices, n, 1)).collect();
            items.push(array);
            items
        }
    };
    (kind, items, out_of_bounds(index, axis, n))
}

fn bad_mask(choices: &mut Choices, shape: &[usize]) -> Parts {
    let axis = choices.below(shape.len());
    let length = if shape[axis] > 0 && choices.one_in(2) { shape[axis] - 1 } else { shape[axis] + 2 };
    let says = vec![format!("length of {length} along axis {axis}, but the array's size is {}", shape[axis])];
    let kind = choices.pick(&[Kind::Mask, Kind::Coordinates, Kind::Mixed, Kind::Orthogonal]);
    let mask = |shape: Vec<usize>| {
        let count = shape.iter().product();
        DimSelection::from(Mask::new(shape, vec![true; count]).unwrap())
    };
    if kind == Kind::Orthogonal || (kind == Kind::Mixed && choices.one_in(2)) {
        let mut items = vec![DimSelection::ALL; axis];
        items.push(mask(vec![length]));
        return (kind, items, says);
    }
    let mut own = shape.to_vec();
    own[axis] = length;
    (kind, vec![mask(own)], says)
}

fn bad_broadcast(choices: &mut Choices, shape: &[usize]) -> Parts {
    let kind = choices.pick(&[Kind::Mixed, Kind::Coordinates]);
    let listed = shape.iter().filter(|&&n| n > 0).count();
    if listed < 2 || (kind == Kind::Coordinates && listed < shape.len()) {
        return bad_index(choices, shape);
    }
    let (mut lengths, mut says) = ([2, 3].into_iter(), vec!["cannot be broadcast together".to_owned()]);
    let item = |&n: &usize| match lengths.next() {
        None if kind == Kind::Coordinates => DimSelection::Index(0),
        None => DimSelection::ALL,
        Some(length) if n > 0 => integers(choices, n, &[length]).into(),
        Some(length) => {
            says.push(format!("[{length}]"));
            DimSelection::ALL
        }
    };
    let items: Vec<DimSelection> = shape.iter().map(item).collect();
    if says.len() > 1 {
        return bad_index(choices, shape);
    }
    says.extend(["[2]".to_owned(), "[3]".to_owned()]);
    (kind, items, says)
}

fn bad_block(choices: &mut Choices, plan: &Plan) -> Parts {
    let axis = choices.below(plan.shape.len());
    let count = plan.blocks()[axis].len();
    let mut items = vec![DimSelection::ALL; axis];
    let says = match choices.below(3) {
        0 => {
            items.push(DimSelection::from(IndexArray::new([1], vec![0]).unwrap()));
            vec![format!("blocks of axis {axis} are selected with [0]")]
        }
        1 => {
            items.push(slice(choices, count, -2));
            vec![format!("blocks of axis {axis} are selected with {}", items[axis])]
        }
        _ => {
            let index = outside(choices, count);
            items.push(DimSelection::Index(index));
            vec![format!("block {index} is out of bounds for axis {axis} with {count} blocks")]
        }
    };
    (Kind::Blocks, items, says)
}

/// Returns coordinates that are too few, or that contain a slice.
fn bad_coordinates(choices: &mut Choices, shape: &[usize]) -> Parts {
    let mut items = vec![DimSelection::Index(0); shape.len()];
    if choices.one_in(2) {
        items.pop();
        let says = vec![format!("for {} dimensions, but the array has {}", items.len(), shape.len())];
        return (Kind::Coordinates, items, says);
    }
    let place = choices.below(shape.len());
    items[place] = slice(choices, shape[place], 1);
    let says = vec![format!("item {place} of the coordinates is {}", items[place])];
    (Kind::Coordinates, items, says)
}

fn same<T>(result: zarrox::Result<T>, first: &Error) {
    let error = result.err().unwrap();
    assert_eq!((error.kind(), error.to_string()), (first.kind(), first.to_string()));
}

fn refused(view: &ArrayView<'_>, says: &[String]) {
    let error = view.read::<ArrayD<i32>>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidSelection, "{error}");
    for part in says {
        assert!(error.to_string().contains(part), "'{error}' does not say '{part}'");
    }
    let mut one = ArrayD::<i32>::zeros(IxDyn(&[]));
    same(view.shape(), &error);
    same(view.read::<DynArray>(), &error);
    same(view.read_into(&mut one), &error);
    same(view.read::<ndarray::Array1<i32>>(), &error);
    same(view.write(&one), &error);
    same(view.write(1_i32), &error);
    same(view.write(DynArray::from_values(zarrox::DataType::Int32, &one).unwrap()), &error);
    same(view.slice(Selection::all()).write(1_i32), &error);
}

fn check(case: &MistakeCase) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let plan = &case.plan;
    let array = plan.create(store.clone(), 5_i32);
    let number = |i: usize| i32::try_from(i).unwrap();
    let count = plan.shape.iter().product();
    let model = ArrayD::from_shape_vec(IxDyn(&plan.shape), (0..count).map(number).collect()).unwrap();
    array.write(.., &model).unwrap();
    for Mistake { wrong, says, in_view } in &case.mistakes {
        let view = if *in_view { wrong.of_view(&array.slice(..)) } else { wrong.of(&array) };
        refused(&view, says);
    }
    values_that_do_not_fit(&array.slice(..), &plan.shape);
    assert_eq!(reopened(&store).read::<ArrayD<i32>>(..).unwrap(), model, "nothing was written");
}

/// Checks the errors for values, and for memory to read into, of another shape than the selection.
fn values_that_do_not_fit(view: &ArrayView<'_>, shape: &[usize]) {
    let longer: Vec<usize> = if shape.is_empty() { vec![2] } else { shape.iter().map(|n| n + 2).collect() };
    let mut values = ArrayD::from_elem(IxDyn(&longer), 77_i32);
    let dynamic = DynArray::from_values(zarrox::DataType::Int32, &values).unwrap();
    let errors = [
        view.write(&values).unwrap_err(),
        view.write(&dynamic).unwrap_err(),
        view.read_into(&mut values).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        let text = error.to_string();
        assert!(text.contains(&format!("{shape:?}")) && text.contains(&format!("{longer:?}")), "{text}");
    }
    assert!(values.iter().all(|value| *value == 77));
}

#[test]
fn selections_and_values_that_do_not_fit_are_refused() {
    run(crate::model::MISTAKES, choose, check);
}

#[test]
fn the_oracle_counts_row_major() {
    let at: Vec<Vec<usize>> = (0..6).map(|number| multi_index(number, &[2, 3])).collect();
    assert_eq!(at, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
}

#[test]
fn text_that_is_not_a_selection_is_refused() {
    for (text, part) in [
        ("1.5", "'1.5' in item 0"),
        ("0, [1, 2.5]", "'2.5' in item 1"),
        ("::1.0", "'1.0' in item 0"),
        ("[0, True],", "mixes"),
        ("a", "'a' in item 0"),
        ("1:2:3:4", "more than two colons"),
        ("[[0, 1], [2]],", "rows of different lengths"),
    ] {
        let error = text.parse::<Selection>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidSelection);
        assert!(error.to_string().contains(part), "'{error}' does not say \"{part}\"");
    }
}
