//! The keys of the line editor that do not belong to the editor itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustyline::{
    Cmd, ConditionalEventHandler, Editor, Event, EventContext, EventHandler, Helper, KeyCode, KeyEvent, Modifiers,
    Movement, RepeatCount, history::History,
};

/// The keys that were pressed on a line, apart from those that edit it. Shared by the editor's keys and its owner.
#[derive(Debug, Clone, Default)]
pub(super) struct KeyState(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    is_prompt: bool,
    was_cleared: bool,
    request: Option<Request>,
}

/// A key that ends the line before it is complete.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Esc was pressed at a question, or at the prompt without a text.
    Escape,
    /// Ctrl-V was pressed; the text and the position of the cursor in it.
    PasteImage(String, usize),
    /// Ctrl-G was pressed after this text.
    OpenEditor(String),
    /// Ctrl-O was pressed; the text and the position of the cursor in it.
    ShowLast(String, usize),
    /// Shift-Tab was pressed; the text and the position of the cursor in it.
    CycleMode(String, usize),
}

impl KeyState {
    /// Starts a line. Some keys work at the prompt only, not at questions.
    pub(super) fn start(&self, is_prompt: bool) {
        *self.state() = State {
            is_prompt,
            ..State::default()
        };
    }

    /// Takes the key that ended the line.
    pub(super) fn take_request(&self) -> Option<Request> {
        self.state().request.take()
    }

    /// Returns whether Ctrl-C has cleared the line.
    pub(super) fn was_cleared(&self) -> bool {
        self.state().was_cleared
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Binds the keys.
pub(super) fn bind<H: Helper, I: History>(editor: &mut Editor<H, I>, state: &KeyState) {
    let ctrl = |key: char| KeyEvent(KeyCode::Char(key.to_ascii_uppercase()), Modifiers::CTRL);
    let enter = |modifiers| KeyEvent(KeyCode::Enter, modifiers);
    editor.bind_sequence(enter(Modifiers::ALT), Cmd::Newline);
    editor.bind_sequence(enter(Modifiers::SHIFT), Cmd::Newline);
    let continue_line = EventHandler::Conditional(Box::new(ContinueAfterBackslash));
    editor.bind_sequence(enter(Modifiers::NONE), continue_line);
    let mut bind = |key: KeyEvent, action: Action| {
        let handler = Key {
            action,
            state: state.clone(),
        };
        editor.bind_sequence(key, EventHandler::Conditional(Box::new(handler)));
    };
    bind(ctrl('j'), Action::Newline);
    bind(ctrl('c'), Action::Clear);
    bind(ctrl('g'), Action::OpenEditor);
    bind(ctrl('o'), Action::ShowLast);
    bind(ctrl('v'), Action::PasteImage);
    bind(KeyEvent(KeyCode::BackTab, Modifiers::NONE), Action::CycleMode);
    bind(KeyEvent(KeyCode::Esc, Modifiers::NONE), Action::Escape);
    #[cfg(unix)]
    bind(ctrl('z'), Action::Suspend);
}

/// Marks a line break that was started by a trailing backslash. The editor cannot remove the backslash and insert the
/// line break in one step, so the backslash is removed when the line is read. The zero-width space distinguishes it
/// from a pasted backslash.
pub(super) const CONTINUATION: &str = "\\\u{200b}\n";

/// Makes Enter after a trailing backslash start a new line.
struct ContinueAfterBackslash;

impl ConditionalEventHandler for ContinueAfterBackslash {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let is_at_end = context.pos() == context.line().len();
        (is_at_end && context.line().ends_with('\\')).then(|| Cmd::Insert(1, CONTINUATION[1..].to_owned()))
    }
}

/// A key and what it does.
struct Key {
    action: Action,
    state: KeyState,
}

#[derive(Clone, Copy)]
enum Action {
    Newline,
    Clear,
    OpenEditor,
    ShowLast,
    CycleMode,
    PasteImage,
    Escape,
    #[cfg(unix)]
    Suspend,
}

impl ConditionalEventHandler for Key {
    /// `None` is the editor's own action for the key.
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let mut state = self.state.state();
        let text = || context.line().to_owned();
        match (self.action, state.is_prompt) {
            (Action::Newline, true) => Some(Cmd::Newline),
            (Action::Clear, true) if !context.line().is_empty() => {
                state.was_cleared = true;
                Some(Cmd::Kill(Movement::WholeBuffer))
            }
            (Action::OpenEditor, true) => {
                state.request = Some(Request::OpenEditor(text()));
                Some(Cmd::Interrupt)
            }
            (Action::ShowLast, true) => {
                state.request = Some(Request::ShowLast(text(), context.pos()));
                Some(Cmd::Interrupt)
            }
            (Action::CycleMode, true) => {
                state.request = Some(Request::CycleMode(text(), context.pos()));
                Some(Cmd::Interrupt)
            }
            (Action::PasteImage, true) => {
                state.request = Some(Request::PasteImage(text(), context.pos()));
                Some(Cmd::Interrupt)
            }
            (Action::Escape, is_prompt) if !is_prompt || context.line().is_empty() => {
                state.request = Some(Request::Escape);
                Some(Cmd::Interrupt)
            }
            #[cfg(unix)]
            (Action::Suspend, _) => {
                drop(state);
                super::terminal::suspend();
                Some(Cmd::Repaint)
            }
            _ => None,
        }
    }
}
