//! The needs of a Python package's modules.
//!
//! A module needs those that it imports when it is imported. Stubs stand for native modules. An import inside of a function is no need, but one that only hides a
//! circle is told. Imports for type checkers alone are passed over.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::graph::reached;
use crate::run::{self, Outcome};

/// The modules of a package, by their files.
#[derive(Debug, Default)]
pub(super) struct Package {
    pub(super) files: Vec<PathBuf>,

    imports: Vec<Import>,
}

/// The import of a module of the package.
#[derive(Debug, PartialEq)]
struct Import {
    file: usize,
    line: usize,
    imported: usize,
    in_function: bool,
}

impl Package {
    pub(super) fn read(root: &Path) -> Outcome<Self> {
        let parent = root.parent().unwrap_or(root);
        let is_inside = |file: &PathBuf| file.starts_with(root);
        let files: Vec<PathBuf> = run::files(&["py", "pyi"])?.into_iter().filter(is_inside).collect();
        let sources = files.iter().map(run::read).collect::<Outcome<Vec<_>>>()?;
        let names = files.iter().map(|file| module_name(file.strip_prefix(parent).unwrap_or(file)));
        Ok(Self::of(&names.collect::<Vec<_>>(), files.clone(), &sources))
    }

    fn of(names: &[String], files: Vec<PathBuf>, sources: &[String]) -> Self {
        let modules: BTreeMap<String, usize> = names.iter().cloned().zip(0..).collect();
        let mut imports = Vec::new();
        for (file, source) in sources.iter().enumerate() {
            let package = match files[file].ends_with("__init__.py") {
                true => names[file].as_str(),
                false => names[file].rsplit_once('.').map_or("", |(package, _)| package),
            };
            for statement in statements(source) {
                for name in imported(&statement.text, package) {
                    // `from a import b` means the module `a.b`, or something in the module `a`.
                    let found = modules.get(&name).or_else(|| modules.get(name.rsplit_once('.')?.0));
                    let import = |&imported| Import {
                        file,
                        line: statement.line,
                        imported,
                        in_function: statement.in_function,
                    };
                    imports.extend(found.map(import));
                }
            }
        }
        Self { files, imports }
    }

    /// The files that each file needs.
    pub(super) fn needs(&self) -> Vec<BTreeSet<usize>> {
        let mut needs = vec![BTreeSet::new(); self.files.len()];
        for import in
            self.imports.iter().filter(|import| !import.in_function && import.file != import.imported)
        {
            needs[import.file].insert(import.imported);
        }
        needs
    }

    /// The imports inside of functions that hide a circle.
    pub(super) fn hidden(&self) -> Vec<String> {
        let needs = self.needs();
        let hides =
            |import: &&Import| import.in_function && reached(&needs, import.imported).contains(&import.file);
        let told = |import: &Import| {
            let (file, imported) = (self.files[import.file].display(), self.files[import.imported].display());
            format!("{file}:{}: an import inside of a function hides a circle with {imported}", import.line)
        };
        self.imports.iter().filter(hides).map(told).collect()
    }
}

/// The name of a module, given its file within the directory that has the package.
fn module_name(file: &Path) -> String {
    let name = file.with_extension("").to_string_lossy().replace(['/', '\\'], ".");
    name.strip_suffix(".__init__").map_or(name.clone(), str::to_owned)
}

/// An import statement, on one line.
#[derive(Debug, PartialEq)]
struct Statement {
    line: usize,
    text: String,
    in_function: bool,
}

/// The import statements of a source, except those for type checkers.
fn statements(source: &str) -> Vec<Statement> {
    let mut found: Vec<Statement> = Vec::new();
    // The indentation of the blocks around a line, and true for functions.
    let mut functions: Vec<usize> = Vec::new();
    let mut checking: Option<usize> = None;
    let mut is_open = false;
    let mut in_text = false;
    for (number, line) in source.lines().enumerate() {
        let code = line.split('#').next().unwrap_or_default().trim();
        if is_open {
            is_open = !code.contains(')');
            if let Some(statement) = found.last_mut() {
                statement.text.push_str(code);
            }
            continue;
        }
        let quotes = line.matches("\"\"\"").count();
        let is_text = in_text || quotes > 0;
        in_text ^= quotes % 2 == 1;
        if is_text || code.is_empty() {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        functions.retain(|function| *function < indent);
        checking = checking.filter(|block| *block < indent);
        if code.starts_with("def ") || code.starts_with("async def ") {
            functions.push(indent);
        } else if code.starts_with("if TYPE_CHECKING") {
            checking = Some(indent);
        } else if checking.is_none() && (code.starts_with("import ") || code.starts_with("from ")) {
            is_open = code.contains('(') && !code.contains(')');
            let in_function = !functions.is_empty();
            found.push(Statement { line: number + 1, text: code.to_owned(), in_function });
        }
    }
    found
}

/// The names that an import statement in a package brings, each with its module.
fn imported(statement: &str, package: &str) -> Vec<String> {
    let names = |list: &str| -> Vec<String> {
        let list =
            list.trim_matches(['(', ')', ' ']).split(',').map(str::trim).filter(|name| !name.is_empty());
        list.filter_map(|name| Some(name.split_whitespace().next()?.to_owned())).collect()
    };
    let Some((module, list)) = statement.strip_prefix("from ").and_then(|rest| rest.split_once(" import "))
    else {
        return names(statement.strip_prefix("import ").unwrap_or_default());
    };
    let module = module.trim();
    let rest = module.trim_start_matches('.');
    let dots = module.len() - rest.len();
    let mut parts: Vec<&str> = if dots == 0 { Vec::new() } else { package.split('.').collect() };
    parts.truncate(parts.len().saturating_sub(dots.saturating_sub(1)));
    parts.extend((!rest.is_empty()).then_some(rest));
    let module = parts.join(".");
    names(list).into_iter().map(|name| format!("{module}.{name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(sources: &[(&str, &str)]) -> Package {
        let names: Vec<String> = sources.iter().map(|(file, _)| module_name(Path::new(file))).collect();
        let files = sources.iter().map(|(file, _)| PathBuf::from(file)).collect();
        let texts: Vec<String> = sources.iter().map(|(_, text)| (*text).to_owned()).collect();
        Package::of(&names, files, &texts)
    }

    #[test]
    fn imports_are_found_in_every_form() {
        assert_eq!(imported("from . import a, b as c", "p.q"), ["p.q.a", "p.q.b"]);
        assert_eq!(imported("from ..x import (a,b,)", "p.q"), ["p.x.a", "p.x.b"]);
        assert_eq!(imported("from p.x import y", "p.q"), ["p.x.y"]);
        assert_eq!(imported("import p.x as z", "p.q"), ["p.x"]);
        let source = "from a import (\n    b,\n    c,\n)\n\"\"\"\nimport text\n\"\"\"\nif TYPE_CHECKING:\n    import d\ndef f():\n    import e\nimport g\n";
        let found: Vec<(String, bool)> =
            statements(source).into_iter().map(|statement| (statement.text, statement.in_function)).collect();
        let expected = [("from a import (b,c,)", false), ("import e", true), ("import g", false)];
        assert_eq!(found, expected.map(|(text, inside)| (text.to_owned(), inside)));
    }

    #[test]
    fn circles_and_hidden_ones_are_told() {
        let open = package(&[
            ("p/__init__.py", ""),
            ("p/a.py", "from p import b\n"),
            ("p/b.py", "from .a import x\n"),
        ]);
        assert_eq!(super::super::graph::knots(&open.files, &open.needs())[0].files, 2);
        let hidden = package(&[
            ("p/__init__.py", ""),
            ("p/a.py", "from p import b\n"),
            ("p/b.py", "def f():\n    from .a import x\n"),
        ]);
        assert!(super::super::graph::knots(&hidden.files, &hidden.needs()).is_empty());
        let told = hidden.hidden();
        assert!(told.len() == 1 && told[0].starts_with("p/b.py:2:"), "{told:?}");
        let later =
            package(&[("p/__init__.py", ""), ("p/a.py", ""), ("p/b.py", "def f():\n    from .a import x\n")]);
        assert!(later.hidden().is_empty());
    }
}
