//! Rules of style that no other tool knows.

use std::path::Path;

use crate::run::{self, Outcome};

/// The longest that a hand-written file may be. What is longer does more than one thing.
const LONGEST: usize = 800;

/// Words that may not stand in code, and why. Written in pieces, so that this file does not hold them itself.
const FORBIDDEN: &[(&str, &str)] = &[
    (concat!("todo", "!("), "is work that is not done"),
    (concat!("unimplemented", "!("), "is work that is not done"),
    (concat!("#[", "ignore"), "hides a test: a test that cannot run everywhere says so itself"),
    (concat!("FIX", "ME"), "is a bug that is known: fix it"),
    (concat!("mark.", "skip"), "hides a test"),
];

/// Checks all files, and names every place that breaks a rule.
pub(crate) fn check() -> Outcome {
    println!("$ tidy");
    let mut complaints = Vec::new();
    for file in run::files(&["rs", "py"])? {
        check_file(&file, &run::read(&file)?, &mut complaints);
    }
    if complaints.is_empty() { Ok(()) } else { Err(format!("tidy:\n{}", complaints.join("\n"))) }
}

fn check_file(path: &Path, text: &str, complaints: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > LONGEST {
        complaints.push(format!("{}: {lines} lines are more than {LONGEST}: split it", path.display()));
    }
    for (number, line) in text.lines().enumerate() {
        for (needle, reason) in FORBIDDEN {
            if line.contains(needle) {
                complaints.push(format!("{}:{}: `{needle}` {reason}", path.display(), number + 1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_breach_is_named_with_its_place() {
        let mut complaints = Vec::new();
        check_file(Path::new("good.rs"), &"let x = 1;\n".repeat(LONGEST), &mut complaints);
        assert_eq!(complaints, [""; 0]);
        let bad = format!("fn f() {{ {}) }}\n", FORBIDDEN[0].0) + &"\n".repeat(LONGEST);
        check_file(Path::new("bad.rs"), &bad, &mut complaints);
        assert_eq!(complaints.len(), 2);
        assert!(complaints[1].starts_with("bad.rs:1:"), "{complaints:?}");
    }
}
