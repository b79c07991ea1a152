//! Groups the commands by purpose, for the help.

use std::fmt::Write as _;

use clap::Command;

/// The groups, each with its heading and its commands.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Look",
        &[
            "info", "tree", "ls", "find", "dump", "head", "tail", "cat", "plot", "stats", "du", "chunks",
            "meta", "bench",
        ],
    ),
    ("Change", &["create", "set", "fill", "attrs", "resize", "rename-dim", "rm", "consolidate"]),
    ("Move", &["import", "export", "append", "cp", "mv", "convert", "rechunk", "reshard", "downsample"]),
    ("Verify", &["check", "diff", "digest", "manifest", "validate-ome"]),
    ("Serve", &["serve"]),
    ("Help", &["demo", "storage", "completions", "man", HELP]),
];

/// The command that clap adds, and its description.
const HELP: &str = "help";
const HELP_ABOUT: &str =
    "Print this help, the help of a command, or the examples of all commands (help examples)";

/// Lists the subcommands by group in the help of the command.
pub(super) fn grouped(command: Command) -> Command {
    let (header, literal) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let width = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or_default();
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (heading, names) in GROUPS {
        let listed: Vec<(&str, String)> =
            names.iter().filter_map(|name| Some((*name, about(&command, name)?))).collect();
        if listed.is_empty() {
            continue;
        }
        // Writing to memory does not fail.
        let _ = writeln!(text, "\n{header}{heading}:{header:#}");
        for (name, about) in listed {
            let _ = writeln!(text, "  {literal}{name:width$}{literal:#}  {about}");
        }
    }
    let _ = write!(text, "\n{header}Options of every command:{header:#}\n{{options}}{{after-help}}");
    command.help_template(text)
}

/// Returns the description of a subcommand; `None` if this build does not include it.
fn about(command: &Command, name: &str) -> Option<String> {
    if name == HELP {
        return Some(HELP_ABOUT.to_owned());
    }
    command.find_subcommand(name)?.get_about().map(ToString::to_string)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::commands::Cli;

    #[test]
    fn every_command_is_in_one_group() {
        let command = Cli::command();
        for name in command.get_subcommands().map(Command::get_name) {
            let count = GROUPS.iter().flat_map(|(_, names)| *names).filter(|listed| **listed == name).count();
            assert_eq!(count, 1, "{name}");
        }
    }

    #[test]
    fn the_help_has_each_group_with_its_commands() {
        let help = grouped(Cli::command()).render_help().to_string();
        for (heading, names) in GROUPS {
            let group = help.split(&format!("\n{heading}:\n")).nth(1).unwrap_or_default();
            let group = group.split("\n\n").next().unwrap_or_default();
            let listed: Vec<&str> = group.lines().filter_map(|line| line.split_whitespace().next()).collect();
            let expected: Vec<&str> =
                names.iter().copied().filter(|name| about(&Cli::command(), name).is_some()).collect();
            assert_eq!(listed, expected, "{heading}: {help}");
        }
    }
}
