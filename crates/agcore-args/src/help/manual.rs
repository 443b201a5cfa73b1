//! The manual pages of commands, in the form that `man` reads.

use clap::Command;
use clap_mangen::Man;

pub(crate) const MAN_HELP: &str = "\
Examples:
  agcore man | man -l -
  agcore man mcp serve | man -l -
  agcore man --dir ~/.local/share/man/man1";

/// Returns the page of a command.
pub(crate) fn page(command: &Command) -> String {
    let mut page = Vec::new();
    // Writing to a Vec cannot fail.
    let _ = Man::new(command.clone()).render(&mut page);
    String::from_utf8_lossy(&page).into_owned()
}

/// Returns the pages of a command of this name and of all commands below it: the names of their files, and the pages.
pub(crate) fn pages(command: &Command, name: String) -> Vec<(String, String)> {
    let commands = command.get_subcommands().filter(|command| !command.is_hide_set());
    let commands = commands.filter(|command| command.get_name() != "help");
    let below = commands.flat_map(|command| pages(command, format!("{name}-{}", command.get_name())));
    [(format!("{name}.1"), page(command))]
        .into_iter()
        .chain(below)
        .collect()
}
