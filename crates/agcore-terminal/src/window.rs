//! [`Window`]: the title of the terminal's window, and notifications for people who use another one.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use crate::{
    process::{print, variable},
    render::truncated,
};

/// The longest name of a session in a title, in columns.
const MAX_NAME: usize = 60;

/// Terminals that would print the sequences of titles and notifications.
const WITHOUT_TITLE: [&str; 4] = ["dumb", "linux", "cons25", "emacs"];

/// Whether the title was changed, so that it must be restored.
static IS_CHANGED: AtomicBool = AtomicBool::new(false);

/// The way in which people learn that the program waits for them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Notify {
    /// No notification.
    Off,
    /// With the bell of the terminal.
    #[default]
    Bell,
    /// With a notification of the desktop, if the terminal can show one, else with its bell.
    Desktop,
}

impl Notify {
    /// Returns the name, as in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Bell => "bell",
            Self::Desktop => "desktop",
        }
    }
}

/// The window of a chat: its title shows the session, and whether the program works, waits for an answer, or rests.
#[derive(Debug)]
pub struct Window {
    has_title: bool,
    notify: Notify,
    /// The time that a turn must have taken for a notification.
    after: Duration,
    name: String,
    /// When the turn started, or continued after a question.
    since: Option<Instant>,
}

/// The present activity of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Activity {
    Rests,
    Works,
    Waits,
}

impl Window {
    /// Takes over the window. Its title is kept by the terminal, and restored on drop. `after` is the time that a turn must have
    /// taken before a person is notified.
    pub fn new(has_title: bool, notify: Notify, after: Duration) -> Self {
        let name = variable("TERM").unwrap_or_default();
        let can_show = !WITHOUT_TITLE.iter().any(|simple| name.eq_ignore_ascii_case(simple)) && !name.is_empty();
        let has_title = has_title && can_show;
        if has_title && !IS_CHANGED.swap(true, Ordering::AcqRel) {
            show("\u{1b}[22;2t");
        }
        Self {
            has_title,
            notify: if can_show { notify } else { Notify::Off },
            after,
            name: String::new(),
            since: None,
        }
    }

    /// Sets the name of the session, which may contain anything.
    pub fn set_name(&mut self, name: &str) {
        self.name = truncated(name.trim(), MAX_NAME);
        self.show(Activity::Rests);
    }

    /// Notes that a turn starts, or continues after an answer.
    pub fn work(&mut self) {
        self.since = Some(Instant::now());
        self.show(Activity::Works);
    }

    /// Notes that a turn waits for an answer, and notifies the person if it has taken long.
    pub fn wait(&mut self) {
        self.show(Activity::Waits);
        self.notify("needs an answer");
    }

    /// Notes that a turn has ended, and notifies the person if it has taken long, unless the person has ended it.
    pub fn rest(&mut self, is_by_person: bool) {
        self.show(Activity::Rests);
        if !is_by_person {
            self.notify("is done");
        }
        self.since = None;
    }

    fn show(&self, activity: Activity) {
        if self.has_title {
            show(&format!("\u{1b}]2;{}\u{7}", title(&self.name, activity)));
        }
    }

    fn notify(&self, what: &str) {
        if self.since.is_some_and(|since| since.elapsed() >= self.after) {
            let terminal = variable("TERM_PROGRAM")
                .or_else(|| variable("TERM"))
                .unwrap_or_default();
            show(&notification(
                self.notify,
                (what, &self.name),
                &terminal,
                variable("TMUX").is_some(),
            ));
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        restore_title();
    }
}

/// Restores the title of the window, if it was changed: also when a signal ends the program.
pub(crate) fn restore_title() {
    if IS_CHANGED.swap(false, Ordering::AcqRel) {
        // A terminal that keeps no titles shows its own when the title is empty.
        show("\u{1b}]2;\u{7}\u{1b}[23;2t");
    }
}

fn show(sequence: &str) {
    // Fails only if the terminal was closed.
    let _ = print(sequence);
}

fn title(name: &str, activity: Activity) -> String {
    let mark = match activity {
        Activity::Rests => "",
        Activity::Works => "… ",
        Activity::Waits => "? ",
    };
    match name {
        "" => format!("{mark}agcore"),
        name => format!("{mark}{name} – agcore"),
    }
}

/// Returns the sequence of a notification in a terminal with this name.
fn notification(notify: Notify, (what, name): (&str, &str), terminal: &str, in_tmux: bool) -> String {
    const BELL: &str = "\u{7}";
    let terminal = terminal.to_lowercase();
    let is = |names: &[&str]| names.iter().any(|name| terminal.contains(name));
    let text = match name {
        "" => format!("agcore {what}"),
        name => format!("agcore {what}: {name}"),
    };
    let sequence = match notify {
        Notify::Off => return String::new(),
        Notify::Bell => return BELL.to_owned(),
        Notify::Desktop if is(&["foot", "rxvt", "vte"]) => {
            // A semicolon would end the text.
            format!("\u{1b}]777;notify;agcore;{}{BELL}", text.replace(';', ","))
        }
        Notify::Desktop if in_tmux || is(&["iterm", "wezterm", "ghostty", "kitty", "mintty", "konsole"]) => {
            format!("\u{1b}]9;{text}{BELL}")
        }
        Notify::Desktop => return BELL.to_owned(),
    };
    match in_tmux {
        // Tmux hands it on if `allow-passthrough` is on, and marks its own window in any case.
        true => format!(
            "\u{1b}Ptmux;{}\u{1b}\\{BELL}",
            sequence.replace('\u{1b}', "\u{1b}\u{1b}")
        ),
        false => sequence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_shows_the_session_and_what_the_program_does() {
        assert_eq!(title("", Activity::Rests), "agcore");
        assert_eq!(title("修复错误", Activity::Works), "… 修复错误 – agcore");
        assert_eq!(title("fix", Activity::Waits), "? fix – agcore");
    }

    #[test]
    fn no_name_ends_the_sequence_of_a_title() {
        let mut window = Window {
            has_title: false,
            notify: Notify::Off,
            after: Duration::ZERO,
            name: String::new(),
            since: None,
        };
        window.set_name("a\u{7}b\u{1b}]0;c\u{9c}\n");
        assert_eq!(window.name, "a\u{fffd}b\u{fffd}]0;c\u{fffd}");
        window.set_name(&"字".repeat(100));
        assert!(window.name.ends_with('…') && window.name.chars().count() <= 31);
    }

    #[test]
    fn notifications_fit_the_terminal() {
        let check = |notify, terminal: &str, in_tmux, expected: &str| {
            let found = notification(notify, ("is done", "a;b"), terminal, in_tmux);
            assert_eq!(found, expected, "{terminal}");
        };
        check(Notify::Off, "xterm-kitty", false, "");
        check(Notify::Bell, "xterm-kitty", false, "\u{7}");
        check(
            Notify::Desktop,
            "xterm-kitty",
            false,
            "\u{1b}]9;agcore is done: a;b\u{7}",
        );
        check(Notify::Desktop, "iTerm.app", false, "\u{1b}]9;agcore is done: a;b\u{7}");
        check(
            Notify::Desktop,
            "foot",
            false,
            "\u{1b}]777;notify;agcore;agcore is done: a,b\u{7}",
        );
        check(Notify::Desktop, "xterm-256color", false, "\u{7}");
        check(
            Notify::Desktop,
            "tmux",
            true,
            "\u{1b}Ptmux;\u{1b}\u{1b}]9;agcore is done: a;b\u{7}\u{1b}\\\u{7}",
        );
    }
}
