//! Elements of variable length.

use ndarray::ArrayD;
use std::sync::Arc;

use zarrox::json::json;
use zarrox::stores::{MemoryStore, Store};
use zarrox::{ArrayView, DataType, DynArray};

use crate::model::chosen::Kind;
use crate::model::oracle::Expected;
use crate::model::plan::{Elements, reopened};
use crate::model::steps::{Case, Give, assign, selected};
use zarrox_testkit::choices::run;

/// Returns text of different lengths, some of them empty.
fn text(number: usize) -> String {
    format!("{number}é").repeat(number % 5)
}

fn compare(view: &ArrayView<'_>, meant: &Expected, model: &[String], what: &str) {
    let wanted = selected(model, meant, String::clone);
    assert_eq!(view.read::<ArrayD<String>>().unwrap(), wanted, "{what}");
    assert_eq!(
        view.read::<DynArray>().unwrap().to::<ArrayD<String>>().unwrap(),
        wanted,
        "{what}, dynamically"
    );
}

fn check(case: &Case) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let builder = case.plan.builder(store.clone()).data_type(DataType::string());
    let array = builder.fill_value_json(json!("nothing")).create().unwrap();
    let mut model = vec!["nothing".to_owned(); case.plan.shape.iter().product()];
    for step in &case.steps {
        let meant = step.expected(&case.plan);
        let view = step.view(&array);
        let fill = step.seed % 4 == 3;
        let given = step.given(&meant.shape, |i| if fill { "nothing".to_owned() } else { text(i) });
        match step.give {
            Give::Dynamic => {
                view.write(DynArray::from_values(DataType::string(), &given).unwrap()).unwrap();
            }
            Give::Transposed => {
                let columns = given.t().as_standard_layout().into_owned();
                view.write(columns.t()).unwrap();
            }
            _ => view.write(&given).unwrap(),
        }
        assign(&mut model, &meant, &given, |element, value| *element = value);
        compare(&view, &meant, &model, "read after writing");
    }
    let reopened = reopened(&store);
    let all = reopened.read::<ArrayD<String>>(..).unwrap();
    assert_eq!(all.into_raw_vec_and_offset().0, model, "everything, reopened");
    for step in &case.steps {
        compare(&step.view(&reopened), &step.expected(&case.plan), &model, "a selection, reopened");
    }
}

#[test]
fn text_of_every_length() {
    let choose = |choices: &mut zarrox_testkit::choices::Choices| {
        let views = choices.one_in(4);
        Case::choose(choices, Elements::Text, &Kind::ALL, views)
    };
    run(crate::model::TEXTS, choose, check);
}
