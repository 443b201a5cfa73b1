//! The clock and the terminal.

use std::{
    env,
    io::{self, IsTerminal},
    time::{Duration, SystemTime},
};

use agcore::{chat::Clock, llm::SystemClock};
use terminal_size::{Height, Width, terminal_size};

use super::check::Check;
use crate::{exit::Failure, render::Colour, utc::utc};

/// The years 2025 to 2100, in seconds since 1970: outside, certificates look as if they were not valid.
const YEARS: std::ops::Range<u64> = 1_735_689_600..4_102_444_800;

/// What can be told of where the program runs.
pub(super) fn checks(colour: Colour) -> Vec<Check> {
    let mut checks = vec![clock(SystemClock::new().now()), terminal(colour)];
    if io::stdout().is_terminal() && cfg!(unix) {
        checks.push(locale(variable));
    }
    checks
}

fn clock(now: SystemTime) -> Check {
    let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let told = format!("it is {}", utc(now));
    if YEARS.contains(&since.as_secs()) {
        Check::ok("clock", told)
    } else {
        let wrong =
            format!("{told}, says the clock\nSet the clock: with a wrong one, no secure connection can be made.");
        Check::fail("clock", &Failure::task(wrong))
    }
}

fn terminal(colour: Colour) -> Check {
    if !io::stdout().is_terminal() {
        return Check::ok("terminal", "the output is none: plain text");
    }
    let size = terminal_size().map(|(Width(columns), Height(rows))| format!("{columns} × {rows}"));
    let colours = match colour.refusal() {
        None => "with colours".to_owned(),
        Some(why) => format!("without colours ({why})"),
    };
    let input = if io::stdin().is_terminal() {
        ""
    } else {
        "; the input is none"
    };
    Check::ok(
        "terminal",
        format!(
            "{}, {colours}{input}",
            size.unwrap_or_else(|| "of unknown size".to_owned())
        ),
    )
}

/// The first variable that is set decides: POSIX, Base Definitions, 8.2.
fn locale(variable: impl Fn(&str) -> Option<String>) -> Check {
    let named = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| {
        variable(name)
            .filter(|value| !value.is_empty())
            .map(|value| (*name, value))
    });
    let advice = "Set LANG=C.UTF-8, or another locale whose name ends in UTF-8.";
    match named {
        Some((name, value)) if value.to_lowercase().replace('-', "").contains("utf8") => {
            Check::ok("locale", format!("{name}={value}"))
        }
        Some((name, value)) => Check::warn("locale", format!("{name}={value} is not UTF-8"), advice),
        None => Check::warn("locale", "none is set; letters beyond ASCII may look wrong", advice),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the command line is where the environment is read"
)]
fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

#[cfg(test)]
mod tests {
    use super::{super::check::Status, *};

    #[test]
    fn a_clock_that_was_never_set_fails() {
        let check = |seconds, expected| {
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(clock(now).status, expected, "{seconds}");
        };
        check(0, Status::Fail);
        check(1_800_000_000, Status::Ok);
        check(9_000_000_000, Status::Fail);
    }

    #[test]
    fn the_locale_is_that_of_the_first_variable() {
        let check = |variables: &[(&str, &str)], expected| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(locale(variable).status, expected, "{variables:?}");
        };
        check(&[("LANG", "de_DE.UTF-8")], Status::Ok);
        check(&[("LANG", "C.utf8"), ("LC_ALL", "")], Status::Ok);
        check(&[("LANG", "C.UTF-8"), ("LC_ALL", "C")], Status::Warn);
        check(&[], Status::Warn);
    }
}
