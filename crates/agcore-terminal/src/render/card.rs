//! [`Card`]: a finished tool call on one line.

use std::{borrow::Cow, time::Duration};

use agcore_chat::{ToolCall, text::HumanDuration};
use serde_json::Value;

use super::{
    style::Palette,
    text::{columns, sanitized_line, truncated},
};

/// The maximum width of a tool's name. A model may call a tool that does not exist, by any name.
const MAX_NAME: usize = 64;

/// The minimum width of an input or output, even if the line then exceeds the window.
const MIN_WIDTH: usize = 8;

/// The longest arguments of a call whose outcome is unknown, in columns.
const MAX_ARGUMENTS: usize = 200;

/// A finished call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Card<'a> {
    pub(super) name: &'a str,
    pub(super) input: &'a str,
    pub(super) output: &'a str,
    /// Whether the call, or the command that it ran, failed.
    pub(super) has_failed: bool,
    pub(super) duration: Duration,
}

impl Card<'_> {
    /// Formats the card within this width: `✓ name arguments 12 ms result`. A time of less than a millisecond is left out.
    pub(super) fn line(&self, palette: Palette, width: usize) -> String {
        let Palette {
            success, error, dim, ..
        } = palette;
        let (style, sign) = if self.has_failed {
            (error, '✗')
        } else {
            (success, '✓')
        };
        let (name, time) = (truncated(self.name, MAX_NAME), self.time());
        // Five columns are for the sign and the spaces between the parts.
        let available = width.saturating_sub(columns(&name) + columns(&time) + 5);
        let output = truncated(self.output, available.max(MIN_WIDTH));
        let left = available
            .saturating_sub(columns(&output))
            .max(available / 3)
            .max(MIN_WIDTH);
        let input = truncated(arguments(self.input), left);
        let available = available.saturating_sub(columns(&input)).max(MIN_WIDTH);
        let output = truncated(self.output, available);
        let details = [input, time].into_iter().filter(|detail| !detail.is_empty());
        let details: String = details.map(|detail| format!(" {detail}")).collect();
        format!("{style}{sign} {name}{style:#}{dim}{details}{dim:#} {output}")
    }

    fn time(&self) -> String {
        match self.duration.as_millis() {
            0 => String::new(),
            _ => HumanDuration(self.duration).to_string(),
        }
    }
}

/// Formats the name of a call within this width, and its arguments with a space before them, if there are any.
pub(super) fn call(name: &str, input: &str, width: usize) -> (String, String) {
    let name = truncated(name, MAX_NAME);
    let available = width.saturating_sub(columns(&name) + 3).max(MIN_WIDTH);
    let input = match arguments(input) {
        "" => String::new(),
        input => format!(" {}", truncated(input, available)),
    };
    (name, input)
}

/// Returns the name of a call, after that of the sub-agent that makes it.
pub(super) fn call_name<'a>(sub_agent: Option<&str>, tool: &'a str) -> Cow<'a, str> {
    match sub_agent {
        Some(agent) => Cow::Owned(format!("{agent} › {tool}")),
        None => Cow::Borrowed(tool),
    }
}

/// Describes a call that was running when the program ended.
pub fn uncertain_line(call: &ToolCall) -> String {
    let (name, input) = (sanitized_line(&call.name), truncated(call.raw_input(), MAX_ARGUMENTS));
    format!("It is not known whether {name} {input} took effect.")
}

/// Hides empty arguments.
fn arguments(input: &str) -> &str {
    match input.trim() {
        "{}" => "",
        input => input,
    }
}

/// The name of the tool that runs command lines for a model.
pub const SHELL: &str = "shell";

/// The member of the metadata of its results with the exit code, which is `null` if the command was killed.
pub const EXIT_CODE: &str = "exit_code";

/// Returns whether a tool runs command lines.
pub(super) fn is_command(tool: &str) -> bool {
    tool == SHELL
}

/// Returns whether a call ran a command that failed or was killed, given the data for observers of its result.
pub fn command_failed(tool: &str, display: Option<&Value>) -> bool {
    // The member of another tool may have another meaning.
    let metadata = display
        .filter(|_| tool == SHELL)
        .and_then(|display| display.get("metadata"));
    metadata
        .and_then(|metadata| metadata.get(EXIT_CODE))
        .is_some_and(|code| code.as_i64() != Some(0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fits_the_width_and_shows_part_of_everything() {
        let check = |input: &str, output: &str, width: usize, expected: &str| {
            let card = Card {
                name: "get",
                input,
                output,
                has_failed: false,
                duration: Duration::from_millis(5),
            };
            let line = card.line(Palette::default(), width);
            assert_eq!(line, expected);
        };
        check("{}", "four", 80, "✓ get 5 ms four");
        check("{\"a\":1}", "four", 80, "✓ get {\"a\":1} 5 ms four");
        let at_once = Card {
            name: "get",
            input: "{}",
            output: "four",
            has_failed: false,
            duration: Duration::from_micros(900),
        };
        assert_eq!(at_once.line(Palette::default(), 80), "✓ get four");
        let (long, other) = ("a".repeat(90), "b".repeat(90));
        check(&long, "ok", 60, &format!("✓ get {}… 5 ms ok", "a".repeat(45)));
        check(
            &long,
            &other,
            60,
            &format!("✓ get {}… 5 ms {}…", "a".repeat(15), "b".repeat(31)),
        );
    }

    #[test]
    fn commands_fail_unless_they_exit_with_0() {
        let check = |tool: &str, code: Value, expected: bool| {
            let display = json!({"metadata": {EXIT_CODE: code}});
            assert_eq!(command_failed(tool, Some(&display)), expected, "{tool} {display}");
        };
        check(SHELL, json!(0), false);
        check(SHELL, json!(127), true);
        check(SHELL, json!(-1), true);
        check(SHELL, Value::Null, true);
        check("files_shell", json!(1), false);
        assert!(!command_failed(SHELL, Some(&json!({}))) && !command_failed(SHELL, None));
    }
}
