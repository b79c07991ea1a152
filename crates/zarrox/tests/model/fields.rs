//! Structured elements whose fields are read and written separately.

use std::sync::Arc;

use ndarray::ArrayD;
use zarrox::stores::{MemoryStore, Store};
use zarrox::{ArrayView, DynArray, Element};

use crate::model::chosen::Kind;
use crate::model::oracle::Expected;
use crate::model::plan::{Elements, reopened};
use crate::model::steps::{Case, Give, Step, assign, selected};
use zarrox_testkit::choices::{Choices, run};

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C, packed)]
struct Place {
    x: f32,
    y: i16,
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C, packed)]
struct Record {
    id: i32,
    at: Place,
    code: [u8; 3],
    alive: bool,
    weight: f64,
}

/// Some of the fields, in another order.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C, packed)]
struct Some {
    weight: f64,
    id: i32,
}

fn record(number: usize) -> Record {
    let small = u16::try_from(number % 30_000).unwrap();
    Record {
        id: i32::from(small) - 7,
        at: Place { x: f32::from(small) / 2.0, y: small.cast_signed() },
        code: [1, small.to_le_bytes()[0], small.to_le_bytes()[1]],
        alive: number.is_multiple_of(2),
        weight: f64::from(small) / 3.0,
    }
}

/// The fields that a step writes.
#[derive(Debug, Clone, Copy)]
enum Part {
    All,
    Id,
    IdDynamically,
    Nested,
    Inner,
    Code,
    Two,
}

const PARTS: [Part; 7] =
    [Part::All, Part::Id, Part::Two, Part::IdDynamically, Part::Nested, Part::Inner, Part::Code];

#[derive(Debug)]
struct FieldCase {
    case: Case,
    parts: Vec<Part>,
}

fn choose(choices: &mut Choices) -> FieldCase {
    let views = choices.one_in(4);
    let case = Case::choose(choices, Elements::Structures, &Kind::ALL, views);
    let parts = case.steps.iter().map(|_| choices.pick(&PARTS)).collect();
    FieldCase { case, parts }
}

/// Returns the values of a field, broadcast to the shape of the selection, which a `DynArray` must
/// have.
fn dynamic<T: Element>(given: &ArrayD<T>, shape: &[usize]) -> DynArray {
    DynArray::from_values(T::data_type(), given.broadcast(shape).unwrap()).unwrap()
}

fn write(view: &ArrayView<'_>, step: &Step, part: Part, meant: &Expected, model: &mut [Record]) {
    let given = step.given(&meant.shape, record);
    match part {
        Part::All => {
            if step.give == Give::Scalar { view.write(given[[]]) } else { view.write(&given) }.unwrap();
            assign(model, meant, &given, |element, value| *element = value);
        }
        Part::Id | Part::IdDynamically => {
            let given = given.mapv(|record| record.id);
            match part {
                Part::Id => view.field("id").write(&given).unwrap(),
                _ => view.field("id").write(dynamic(&given, &meant.shape)).unwrap(),
            }
            assign(model, meant, &given, |element, value| element.id = value);
        }
        Part::Nested => {
            let given = given.mapv(|record| record.at);
            view.field("at").write(&given).unwrap();
            assign(model, meant, &given, |element, value| element.at = value);
        }
        Part::Inner => {
            let given = given.mapv(|record| record.at.y);
            view.field("at.y").write(&given).unwrap();
            assign(model, meant, &given, |element, value| element.at.y = value);
        }
        Part::Code => {
            let given = given.mapv(|record| record.code);
            view.field("code").write(&given).unwrap();
            assign(model, meant, &given, |element, value| element.code = value);
        }
        Part::Two => {
            let given = given.mapv(|record| Some { weight: record.weight, id: record.id });
            view.fields(&["weight", "id"]).write(dynamic(&given, &meant.shape)).unwrap();
            assign(model, meant, &given, |element, value| {
                (element.weight, element.id) = (value.weight, value.id);
            });
        }
    }
}

/// Reads all fields, in every way, and compares them with the model.
fn compare(view: &ArrayView<'_>, meant: &Expected, model: &[Record]) {
    assert_eq!(
        view.read::<ArrayD<Record>>().unwrap(),
        selected(model, meant, |record| *record),
        "all fields"
    );
    let ids = selected(model, meant, |record| record.id);
    assert_eq!(view.field("id").read::<ArrayD<i32>>().unwrap(), ids, "a field");
    assert_eq!(
        view.field("id").read::<DynArray>().unwrap().to::<ArrayD<i32>>().unwrap(),
        ids,
        "a field, dynamically"
    );
    assert_eq!(
        view.field("at").read::<ArrayD<Place>>().unwrap(),
        selected(model, meant, |record| record.at),
        "a structure"
    );
    assert_eq!(
        view.field("at.y").read::<ArrayD<i16>>().unwrap(),
        selected(model, meant, |record| record.at.y),
        "inside it"
    );
    assert_eq!(
        view.field("alive").read::<ArrayD<bool>>().unwrap(),
        selected(model, meant, |record| record.alive)
    );
    let two = view.fields(&["weight", "id"]).read::<DynArray>().unwrap().to::<ArrayD<Some>>().unwrap();
    assert_eq!(
        two,
        selected(model, meant, |record| Some { weight: record.weight, id: record.id }),
        "two fields"
    );
}

fn check(FieldCase { case, parts }: &FieldCase) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = case.plan.create(store.clone(), record(20));
    let mut model = vec![record(20); case.plan.shape.iter().product()];
    for (step, part) in case.steps.iter().zip(parts) {
        let meant = step.expected(&case.plan);
        let view = step.view(&array);
        write(&view, step, *part, &meant, &mut model);
        compare(&view, &meant, &model);
    }
    let all = reopened(&store).read::<ArrayD<Record>>(..).unwrap();
    assert_eq!(all.into_raw_vec_and_offset().0, model, "everything, reopened");
}

#[test]
fn fields_of_structures() {
    run(crate::model::FIELDS, choose, check);
}
