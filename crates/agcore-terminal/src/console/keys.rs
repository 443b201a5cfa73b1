//! The keys of the line editor that do not belong to the editor itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustyline::{
    CharSearch, Cmd, ConditionalEventHandler, Editor, Event, EventContext, EventHandler, Helper, KeyCode, KeyEvent,
    Modifiers, Movement, RepeatCount, history::History,
};

use super::{
    offer::Offer,
    pastes::{CLOSING, OPENING, Pastes},
    typed_ahead::pasted,
};

/// The keys that were pressed on a line, apart from those that edit it. Shared by the editor's keys and its owner.
#[derive(Debug, Clone, Default)]
pub(super) struct KeyState {
    state: Arc<Mutex<State>>,
    pastes: Pastes,
    offer: Offer,
}

#[derive(Debug, Default)]
struct State {
    is_prompt: bool,
    was_cleared: bool,
    request: Option<Request>,
    /// The part of a pasted text that has arrived.
    paste: Option<String>,
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
    /// Creates the state of an editor in which long texts that are pasted are folded, and which has a menu.
    pub(super) fn new(pastes: Pastes, offer: Offer) -> Self {
        Self {
            pastes,
            offer,
            ..Self::default()
        }
    }

    /// Starts a line. Some keys work at the prompt only, not at questions.
    pub(super) fn start(&self, is_prompt: bool) {
        self.offer.start();
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
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Collects the keys of a text that is pasted at the prompt. The editor itself would insert all of it, however long it is.
    fn paste(&self, event: &Event) -> Option<Cmd> {
        let mut state = self.state();
        match event.get(0)? {
            KeyEvent(KeyCode::BracketedPasteStart, _) if state.is_prompt => {
                state.paste.get_or_insert_default();
            }
            KeyEvent(KeyCode::BracketedPasteEnd, _) => {
                let text = pasted(&state.paste.take()?);
                return Some(Cmd::Insert(1, self.pastes.fold(&text)));
            }
            KeyEvent(code, modifiers) => state.paste.as_mut()?.extend(character(*code, *modifiers)),
        }
        Some(Cmd::Noop)
    }
}

/// Returns the character of a text that the editor reads as this key.
fn character(code: KeyCode, modifiers: Modifiers) -> Option<char> {
    match (code, modifiers) {
        (KeyCode::Enter, Modifiers::NONE) => Some('\r'),
        (KeyCode::Tab, Modifiers::NONE) => Some('\t'),
        (KeyCode::Char(key), Modifiers::NONE) => Some(key),
        (KeyCode::Char('J'), Modifiers::CTRL) => Some('\n'),
        _ => None,
    }
}

/// Binds the keys.
pub(super) fn bind<H: Helper, I: History>(editor: &mut Editor<H, I>, state: &KeyState) {
    let ctrl = |key: char| KeyEvent(KeyCode::Char(key.to_ascii_uppercase()), Modifiers::CTRL);
    let enter = |modifiers| KeyEvent(KeyCode::Enter, modifiers);
    editor.bind_sequence(enter(Modifiers::ALT), Cmd::Newline);
    editor.bind_sequence(enter(Modifiers::SHIFT), Cmd::Newline);
    let continue_line = EventHandler::Conditional(Box::new(ContinueAfterBackslash(state.clone())));
    editor.bind_sequence(enter(Modifiers::NONE), continue_line);
    editor.bind_sequence(Event::Any, EventHandler::Conditional(Box::new(AnyKey(state.clone()))));
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
    bind(KeyEvent(KeyCode::Up, Modifiers::NONE), Action::Step { forward: false });
    bind(KeyEvent(KeyCode::Down, Modifiers::NONE), Action::Step { forward: true });
    bind(KeyEvent(KeyCode::Esc, Modifiers::NONE), Action::Escape);
    bind(KeyEvent(KeyCode::Backspace, Modifiers::NONE), Action::DeleteBefore);
    bind(KeyEvent(KeyCode::Delete, Modifiers::NONE), Action::DeleteAfter);
    #[cfg(unix)]
    bind(ctrl('z'), Action::Suspend);
}

/// Marks a line break that was started by a trailing backslash. The editor cannot remove the backslash and insert the
/// line break in one step, so the backslash is removed when the line is read. The zero-width space distinguishes it
/// from a pasted backslash.
pub(super) const CONTINUATION: &str = "\\\u{200b}\n";

/// Makes Enter insert the selected entry of the menu, and start a new line after a trailing backslash.
struct ContinueAfterBackslash(KeyState);

impl ConditionalEventHandler for ContinueAfterBackslash {
    fn handle(&self, event: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let is_at_end = context.pos() == context.line().len();
        let continues = is_at_end && context.line().ends_with('\\');
        let newline = || continues.then(|| Cmd::Insert(1, CONTINUATION[1..].to_owned()));
        // The completion inserts what is selected, as for Tab.
        let is_chosen = || self.0.offer.chosen(context.line(), context.pos()).is_some();
        let chosen = || is_chosen().then_some(Cmd::Complete);
        self.0.paste(event).or_else(chosen).or_else(newline)
    }
}

/// Collects the keys of pasted texts that have no other meaning.
struct AnyKey(KeyState);

impl ConditionalEventHandler for AnyKey {
    fn handle(&self, event: &Event, _: RepeatCount, _: bool, _: &EventContext<'_>) -> Option<Cmd> {
        let command = self.0.paste(event);
        if command.is_none() && matches!(event.get(0), Some(KeyEvent(KeyCode::Char(_), Modifiers::NONE))) {
            self.0.offer.note_typed();
        }
        command
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
    /// Selects another row of the menu.
    Step {
        forward: bool,
    },
    /// Deletes all of a placeholder before the cursor.
    DeleteBefore,
    /// Deletes all of a placeholder after the cursor.
    DeleteAfter,
    #[cfg(unix)]
    Suspend,
}

impl ConditionalEventHandler for Key {
    /// `None` is the editor's own action for the key.
    fn handle(&self, event: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        if let Some(command) = self.state.paste(event) {
            return Some(command);
        }
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
            (Action::Step { forward }, true) => self
                .state
                .offer
                .step(context.line(), context.pos(), forward)
                .then_some(Cmd::Repaint),
            (Action::Escape, true) if self.state.offer.close(context.line(), context.pos()) => Some(Cmd::Repaint),
            (Action::Escape, is_prompt) if !is_prompt || context.line().is_empty() => {
                state.request = Some(Request::Escape);
                Some(Cmd::Interrupt)
            }
            (Action::DeleteBefore, true) => {
                self.state.pastes.at_end(&context.line()[..context.pos()])?;
                Some(placeholder(CharSearch::Backward(OPENING)))
            }
            (Action::DeleteAfter, true) => {
                self.state.pastes.at_start(&context.line()[context.pos()..])?;
                Some(placeholder(CharSearch::Forward(CLOSING)))
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

/// Deletes a placeholder at the cursor, up to the character that it begins or ends with. The editor would replace a number of
/// characters by the number of times that the key was pressed.
fn placeholder(search: CharSearch) -> Cmd {
    Cmd::Kill(Movement::ViCharSearch(1, search))
}
