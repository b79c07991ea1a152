//! The dependencies of a Python package's modules.
//!
//! A module depends on the modules that it imports, anywhere: at the top, inside a function, or for type checkers alone. An
//! import runs the packages around a module, too. Stubs represent native modules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::graph::Graph;
use crate::run::{self, Outcome};

/// The modules of a package, by their files.
#[derive(Debug)]
pub(super) struct Package(Graph);

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
        let modules: BTreeMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
        let mut needs = vec![BTreeSet::new(); files.len()];
        for (file, source) in sources.iter().enumerate() {
            let package = match files[file].ends_with("__init__.py") {
                true => names[file].as_str(),
                false => names[file].rsplit_once('.').map_or("", |(package, _)| package),
            };
            for name in statements(source).iter().flat_map(|statement| imported(statement, package)) {
                // Packages around the importing module itself run before it, whatever it imports.
                let run = with_packages(&name).filter(|module| !is_around(module, &names[file]));
                let run = run.filter_map(|module| modules.get(module).copied());
                needs[file].extend(run.filter(|module| *module != file));
                // `from a import b` imports the module `a.b`, or a name in the module `a`, which may be a package around it.
                let parent = name.rsplit_once('.').and_then(|(parent, _)| modules.get(parent));
                let submodule =
                    parent.filter(|parent| **parent != file && !modules.contains_key(name.as_str()));
                needs[file].extend(submodule);
            }
        }
        Self(Graph { paths: files, needs })
    }

    /// Returns the files, and the dependencies of each.
    pub(super) fn graph(self) -> Graph {
        self.0
    }
}

/// Returns a module, and the packages around it.
fn with_packages(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), |name| Some(name.rsplit_once('.')?.0))
}

/// Returns true for a package around a module.
fn is_around(package: &str, module: &str) -> bool {
    module.strip_prefix(package).is_some_and(|rest| rest.starts_with('.'))
}

/// Returns the name of a module from its file within the directory of the package.
fn module_name(file: &Path) -> String {
    let name = file.with_extension("").to_string_lossy().replace(['/', '\\'], ".");
    name.strip_suffix(".__init__").map_or(name.clone(), str::to_owned)
}

/// Returns the import statements of a source, each on one line.
fn statements(source: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_open = false;
    let mut in_text = false;
    for line in source.lines() {
        let code = line.split('#').next().unwrap_or_default().trim();
        if is_open {
            is_open = !code.contains(')');
            if let Some(statement) = found.last_mut() {
                statement.push_str(code);
            }
            continue;
        }
        let quotes = line.matches("\"\"\"").count();
        let is_text = in_text || quotes > 0;
        in_text ^= quotes % 2 == 1;
        if !is_text && (code.starts_with("import ") || code.starts_with("from ")) {
            is_open = code.contains('(') && !code.contains(')');
            found.push(code.to_owned());
        }
    }
    found
}

/// Returns the names that an import statement in a package imports, each with its module.
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
        let source = "from a import (\n    b,\n    c,\n)\n\"\"\"\nimport text\n\"\"\"\nif TYPE_CHECKING:\n    import d\ndef f():\n    import e\n";
        assert_eq!(statements(source), ["from a import (b,c,)", "import d", "import e"]);
    }

    #[test]
    fn circles_are_found_wherever_modules_import() {
        let top = ("p/a.py", "from p import b\n");
        for back in [
            "from .a import x\n",
            "def f():\n    from .a import x\n",
            "if TYPE_CHECKING:\n    from .a import x\n",
        ] {
            let circle = package(&[("p/__init__.py", ""), top, ("p/b.py", back)]);
            assert_eq!(circle.graph().knots()[0].size, 2, "{back}");
        }
        let row = package(&[("p/__init__.py", "from p import a\n"), top, ("p/b.py", "")]);
        assert_eq!(row.graph().knots(), []);
    }

    #[test]
    fn packages_run_before_their_modules() {
        let q = [
            ("q/__init__.py", ""),
            ("q/p/__init__.py", "from .a import x\n"),
            ("q/p/a.py", "from ..b import y\n"),
        ];
        let through = [&q[..], &[("q/b.py", "from .p.c import z\n"), ("q/p/c.py", "")]].concat();
        assert_eq!(package(&through).graph().knots()[0].size, 3);
        let within = [&q[..], &[("q/b.py", ""), ("q/p/c.py", "from .a import x\n")]].concat();
        assert_eq!(package(&within).graph().knots(), []);
    }
}
