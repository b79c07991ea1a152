//! Running other programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// The result of a step: a value, or a message with the reason of its failure.
pub type Outcome<T = ()> = Result<T, String>;

/// The time after which a command prints its duration.
const LONG: Duration = Duration::from_secs(10);

/// Changes the working directory to the root of the repository, so that all paths can be short.
pub fn enter_root() -> Outcome {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).ok_or("the repository has no root")?;
    std::env::set_current_dir(root).map_err(|error| format!("{}: {error}", root.display()))
}

/// A program with its arguments and environment variables.
#[derive(Debug, Clone, Default)]
pub struct Program {
    name: String,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    /// The working directory; the root of the repository by default.
    directory: Option<String>,
}

/// Returns a program with its arguments.
pub fn program<A: Into<String>>(name: impl Into<String>, arguments: impl IntoIterator<Item = A>) -> Program {
    let arguments = arguments.into_iter().map(Into::into).collect();
    Program { name: name.into(), arguments, ..Program::default() }
}

/// Returns the Cargo that started this program.
pub fn cargo<A: Into<String>>(arguments: impl IntoIterator<Item = A>) -> Program {
    program("cargo", arguments)
}

impl Program {
    /// Adds arguments.
    pub fn with<A: Into<String>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the working directory.
    pub fn within(self, directory: &str) -> Self {
        Self { directory: Some(directory.to_owned()), ..self }
    }

    /// Sets several environment variables.
    pub fn variables(mut self, variables: &[(String, String)]) -> Self {
        self.variables.extend_from_slice(variables);
        self
    }

    /// Prints the command and runs it, and prints the duration of a long one; fails if the command fails.
    pub fn run(&self) -> Outcome {
        println!("$ {self}");
        let start = Instant::now();
        let status = self.command().status().map_err(|error| format!("{}: {error}", self.name))?;
        self.tell_time(start);
        if status.success() { Ok(()) } else { Err(format!("failed: {self}")) }
    }

    /// Runs the command like [`run`](Self::run), but prints its output after it has ended: for programs that run concurrently.
    pub fn run_quietly(&self) -> Outcome {
        println!("$ {self}");
        let start = Instant::now();
        let (succeeded, printed) = self.log()?;
        println!("{self}:\n{printed}");
        self.tell_time(start);
        if succeeded { Ok(()) } else { Err(format!("failed: {self}")) }
    }

    /// Prints the command, runs it, and returns its standard output; fails if the command fails.
    pub fn printed(&self) -> Outcome<String> {
        println!("$ {self}");
        let output = self.command().stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| format!("{}: {error}", self.name))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() { Ok(text) } else { Err(format!("failed: {self}")) }
    }

    /// Returns the program's output, if it can be run and succeeds. Prints nothing itself.
    pub fn output(&self) -> Option<String> {
        let output = self.command().stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Runs the program; returns whether it succeeded, and its output. Prints nothing itself.
    pub fn log(&self) -> Outcome<(bool, String)> {
        let output = self.command().stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("{}: {error}", self.name))?;
        let text = [output.stdout, output.stderr].concat();
        Ok((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
    }

    /// Prints the duration of a long command, so that a developer sees where the time goes.
    fn tell_time(&self, start: Instant) {
        let took = start.elapsed();
        if took > LONG {
            println!("# {} seconds: {self}", took.as_secs());
        }
    }

    /// Returns the command, to be started in another way.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.name);
        command.args(&self.arguments).envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command
    }
}

impl std::fmt::Display for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (name, value) in &self.variables {
            write!(f, "{name}={} ", quoted(value))?;
        }
        f.write_str(&quoted(&self.name))?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {}", quoted(argument)))
    }
}

/// Returns the text, quoted for a shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,@+%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Returns an example of the testkit, built from the current sources with all crates and features, so that the build is shared
/// with the tests.
pub fn example(name: &str) -> Outcome<Program> {
    cargo(["build", "--quiet", "--workspace", "--all-features", "--example", name]).run()?;
    Ok(program::<&str>(built(&format!("debug/examples/{name}")), []))
}

/// Builds a bench target of a package; returns its program.
pub fn bench_target(package: &str, name: &str) -> Outcome<String> {
    let build = cargo(["bench", "--no-run", "--package", package, "--bench", name]);
    let messages = build.with(["--message-format=json-render-diagnostics"]).printed()?;
    executable(&messages, name).ok_or_else(|| "Cargo names no program of the bench target".to_owned())
}

/// Returns the program of a target from Cargo's messages about a build.
fn executable(messages: &str, target: &str) -> Option<String> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut built = messages.filter(|message| message["target"]["name"] == target);
    built.find_map(|message| message["executable"].as_str().map(str::to_owned))
}

/// Runs `work` for each item, in parallel on all processors.
pub fn each_in_parallel<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    each_in_parallel_of(thread::available_parallelism().map_or(1, usize::from), items, work);
}

/// Runs `work` for each item, in parallel on this number of threads.
pub fn each_in_parallel_of<T: Sync>(workers: usize, items: &[T], work: impl Fn(&T) + Sync) {
    let next = Mutex::new(items.iter());
    let worker = || {
        while let Some(item) = next.lock().ok().and_then(|mut items| items.next()) {
            work(item);
        }
    };
    thread::scope(|scope| {
        (0..workers.max(1)).for_each(|_| drop(scope.spawn(worker)));
    });
}

/// Returns the path of a program that Cargo has built.
pub fn built(program: &str) -> String {
    target(&format!("{program}{}", std::env::consts::EXE_SUFFIX))
}

/// Returns a path in Cargo's target directory.
pub fn target(path: &str) -> String {
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    format!("{target}/{path}")
}

/// Returns an absolute path; links are not resolved.
pub fn absolute(path: impl AsRef<Path>) -> Outcome<String> {
    let path = std::path::absolute(path).map_err(|error| error.to_string())?;
    Ok(path.to_string_lossy().into_owned())
}

/// Returns all files of the repository with one of these extensions, except hidden files and build output.
pub fn files(extensions: &[&str]) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(".")];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries {
            let path = entry.map_err(|error| error.to_string())?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with('.') || name == "target" {
                continue;
            }
            let extension = path.extension().unwrap_or_default();
            if path.is_dir() {
                folders.push(path);
            } else if extensions.iter().any(|wanted| extension == *wanted) {
                found.push(path.strip_prefix(".").unwrap_or(&path).to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Reads a file as text.
pub fn read(path: impl AsRef<Path>) -> Outcome<String> {
    let path = path.as_ref();
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a file, creating its parent directories.
pub fn write(path: impl AsRef<Path>, text: &str) -> Outcome {
    let path = path.as_ref();
    let parent = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    parent.and_then(|()| std::fs::write(path, text)).map_err(|error| format!("{}: {error}", path.display()))
}

/// Deletes a directory if it exists.
pub fn remove_directory(path: impl AsRef<Path>) -> Outcome {
    let path = path.as_ref();
    let removed = if path.exists() { std::fs::remove_dir_all(path) } else { Ok(()) };
    removed.map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns an empty directory, deleting an existing one.
pub fn empty_directory(path: impl AsRef<Path>) -> Outcome<PathBuf> {
    let path = path.as_ref();
    remove_directory(path)?;
    std::fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_printed_as_a_shell_takes_them() {
        let command = program("dump", ["a.zarr/x[::2]", "", "it's"]).variable("NAME", "a b");
        assert_eq!(command.to_string(), r"NAME='a b' dump 'a.zarr/x[::2]' '' 'it'\''s'");
    }

    #[test]
    fn the_program_is_found_among_what_cargo_built() {
        let messages = r#"
            {"reason": "compiler-artifact", "target": {"name": "peers"}, "executable": null}
            {"reason": "compiler-artifact", "target": {"name": "whole"}, "executable": "/target/whole"}
            {"reason": "compiler-artifact", "target": {"name": "peers"}, "executable": "/target/peers"}
            {"reason": "build-finished", "success": true}"#;
        assert_eq!(executable(messages, "peers").as_deref(), Some("/target/peers"));
        assert_eq!(executable(messages, "codecs"), None);
    }

    #[test]
    fn every_item_is_worked_on_once() {
        let done = Mutex::new(Vec::new());
        each_in_parallel(&[3, 1, 2], |item| done.lock().unwrap().push(*item));
        let mut done = done.into_inner().unwrap();
        done.sort_unstable();
        assert_eq!(done, [1, 2, 3]);
    }
}
