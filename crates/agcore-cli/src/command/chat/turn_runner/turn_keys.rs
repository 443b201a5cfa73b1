//! [`TurnKeys`]: reads the keys that are pressed while a turn runs, and formats them for the screen.

use std::time::Duration;

use agcore_terminal::{
    console::{BracketedPaste, Console, KeyReader, Shown, discard_input},
    render::{truncated, truncated_start, window_width},
};
use agcore_workbench::permission_mode::PermissionMode;

use agcore_workbench::policy::mode_switch::ModeSwitch;

/// The time between two attempts to read the rest of a pasted text, and the maximum number of attempts.
const PASTE_DELAY: (Duration, usize) = (Duration::from_millis(10), 100);

/// Reads the keys of a turn. Typed text is kept for the next prompt.
pub(in crate::command::chat) struct TurnKeys {
    /// `None` if the terminal sends whole lines.
    reader: Option<KeyReader>,
    /// `None` without a reader.
    paste_marks: Option<BracketedPaste>,
    modes: ModeSwitch,
    /// The effect of Shift-Tab.
    mode_note: Option<String>,
}

impl TurnKeys {
    /// Starts to read keys. Shift-Tab changes the mode of this switch.
    pub(in crate::command::chat) fn new(console: &Console, modes: &ModeSwitch) -> Self {
        let reader = console.key_reader();
        Self {
            paste_marks: reader.is_some().then(BracketedPaste::enter),
            reader,
            modes: modes.clone(),
            mode_note: None,
        }
    }

    /// Reads the keys that were pressed. Returns whether Esc is one of them.
    pub(in crate::command::chat) fn read(&mut self) -> bool {
        let Some(reader) = &mut self.reader else {
            return false;
        };
        let pressed = reader.read();
        for _ in 0..pressed.mode_changes {
            self.change_mode();
        }
        pressed.escape
    }

    /// Continues after a line was read, which is a question.
    pub(in crate::command::chat) fn resume(&self) {
        if let Some(marks) = &self.paste_marks {
            marks.resume();
        }
    }

    /// Reads what was typed before a question appears, so that it does not answer it. What cannot be read is discarded: lines of a
    /// simple terminal, and a pasted text that does not end.
    pub(in crate::command::chat) async fn clear_for_question(&mut self) {
        if !self.finish().await {
            discard_input();
        }
    }

    /// Reads the remaining keys, and all of a text that is being pasted, before other code reads from the terminal. Returns
    /// whether that was possible.
    pub(in crate::command::chat) async fn finish(&mut self) -> bool {
        let (delay, times) = PASTE_DELAY;
        for _ in 0..times {
            self.read();
            match &mut self.reader {
                Some(reader) if reader.is_pasting() => tokio::time::sleep(delay).await,
                Some(reader) => {
                    // It was meant for what is over now, not for what is asked next.
                    reader.forget_escape();
                    return true;
                }
                None => return false,
            }
        }
        false
    }

    /// Returns the lines to show below the output: the mode, and what was typed.
    pub(in crate::command::chat) fn footer(&self) -> Vec<String> {
        // A line that fills the window would wrap.
        let width = window_width().saturating_sub(1);
        let typed = self.reader.as_ref().map(KeyReader::shown).unwrap_or_default();
        let typed = typed.into_iter().map(|line| match line {
            Shown::Queued(line) => truncated(&format!("queued: {line}"), width),
            Shown::Typing(line) => format!("> {}", truncated_start(&line, width.saturating_sub(2))),
        });
        let mode = self.mode_note.iter().map(|note| truncated(note, width));
        mode.chain(typed).collect()
    }

    fn change_mode(&mut self) {
        let mode = self.modes.next();
        self.mode_note = Some(match self.modes.change(mode) {
            // What runs already, or only waits for another call, was accepted before.
            true if mode == PermissionMode::Plan => "permission mode: plan (accepted calls still run)".to_owned(),
            true => format!("permission mode: {}", mode.as_str()),
            false => format!(
                "permission mode: still {}; change it at the prompt: a turn cannot start or stop asking",
                self.modes.current().get().as_str()
            ),
        });
    }
}
