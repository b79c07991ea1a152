//! The TypeScript types of responses, which the page keeps in `page/src/answers.ts`.

use std::collections::BTreeMap;

use ts_rs::{Config, TS, TypeVisitor};

use super::check::CheckLine;
use super::chunks::Chunks;
use super::line::Line;
use super::node::NodeInfo;
use super::overview::Overview;
use super::slice::Slice;
use super::statistics::Stats;
use super::tree::{Found, Page};
use crate::failure::ErrorAnswer;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/page/src/answers.ts");

const HEAD: &str = "\
/** The answers of the server, made from its types in Rust: `cargo xtask page --types` writes this file. */
";

/// If this environment variable is set, the test writes the file.
const WRITE: &str = "ZARROX_WRITE_TYPES";

/// Declarations by type name.
struct Declarations {
    config: Config,
    declared: BTreeMap<String, String>,
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Types of other crates have no declaration.
        if T::output_path().is_none() || self.declared.contains_key(&T::ident(&self.config)) {
            return;
        }
        let declaration = format!("{}export {}\n", T::docs().unwrap_or_default(), T::decl(&self.config));
        self.declared.insert(T::ident(&self.config), declaration);
        T::visit_dependencies(self);
    }
}

fn types() -> String {
    let config = Config::new().with_large_int("number");
    let mut declarations = Declarations { config, declared: BTreeMap::new() };
    declarations.visit::<CheckLine>();
    declarations.visit::<Chunks>();
    declarations.visit::<ErrorAnswer>();
    declarations.visit::<Found>();
    declarations.visit::<Line>();
    declarations.visit::<NodeInfo>();
    declarations.visit::<Overview>();
    declarations.visit::<Page>();
    declarations.visit::<Slice>();
    declarations.visit::<Stats>();
    let declared: Vec<String> = declarations.declared.into_values().collect();
    format!("{HEAD}\n{}", declared.join("\n"))
}

#[test]
fn the_page_has_the_types_of_the_answers() {
    let types = types();
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(FILE, &types).unwrap();
    }
    let known = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(known == types, "{FILE} is out of date: run `cargo xtask page --types`");
}
