//! [`Offer`]: what the menu below the line offers, and which of it is selected.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The choices of the menu. Shared by the editor's helper, which shows them, and its keys, which select one.
#[derive(Debug, Clone, Default)]
pub(super) struct Offer(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// Whether a letter was typed in this line: what was only recalled or pasted has no choices.
    is_typed: bool,
    /// Where the word starts whose menu was closed.
    closed: Option<usize>,
    open: Option<Choices>,
}

/// The choices for a word of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choices {
    /// The line, and the position of the cursor in it.
    pub(super) line: (String, usize),
    /// Where the word starts.
    pub(super) start: usize,
    /// The texts that may replace the word.
    pub(super) items: Vec<String>,
    /// The item that Tab and Enter insert.
    pub(super) selected: Option<usize>,
}

impl Offer {
    /// Starts a line.
    pub(super) fn start(&self) {
        *self.state() = State::default();
    }

    /// Notes that a letter was typed.
    pub(super) fn note_typed(&self) {
        self.state().is_typed = true;
    }

    /// Returns whether choices may be offered for the word that starts here.
    pub(super) fn is_wanted(&self, start: usize) -> bool {
        let state = self.state();
        state.is_typed && state.closed != Some(start)
    }

    /// Returns whether the menu for the word that starts here was closed.
    pub(super) fn is_closed(&self, start: usize) -> bool {
        self.state().closed == Some(start)
    }

    /// Offers choices, or none. Returns which of them is selected: the one that was, if the line is the same.
    pub(super) fn show(&self, choices: Option<Choices>) -> Option<usize> {
        let mut state = self.state();
        let before = std::mem::replace(&mut state.open, choices);
        let choices = state.open.as_mut()?;
        let is_same = |before: &Choices| before.line == choices.line && before.items == choices.items;
        if let Some(before) = before.filter(is_same) {
            choices.selected = before.selected;
        }
        choices.selected
    }

    /// Notes that there is no word for a menu, so that one that was closed opens again for the next word.
    pub(super) fn forget_closed(&self) {
        self.state().closed = None;
    }

    /// Selects the next choice, or the one before. Returns whether there are choices.
    pub(super) fn step(&self, line: &str, position: usize, forward: bool) -> bool {
        let mut state = self.state();
        let Some(choices) = state.open.as_mut().filter(|open| open.is_for(line, position)) else {
            return false;
        };
        let last = choices.items.len().saturating_sub(1);
        choices.selected = Some(match (choices.selected, forward) {
            (None, true) => 0,
            (None, false) => last,
            (Some(at), true) if at == last => 0,
            (Some(at), true) => at + 1,
            (Some(0), false) => last,
            (Some(at), false) => at - 1,
        });
        true
    }

    /// Returns the selected choice, and where the word starts that it replaces.
    pub(super) fn chosen(&self, line: &str, position: usize) -> Option<(usize, String)> {
        let state = self.state();
        let choices = state.open.as_ref().filter(|open| open.is_for(line, position))?;
        let text = choices.items.get(choices.selected?)?.clone();
        Some((choices.start, text))
    }

    /// Closes the menu until another word is typed. Returns whether it was open.
    pub(super) fn close(&self, line: &str, position: usize) -> bool {
        let mut state = self.state();
        let open = state.open.take().filter(|open| open.is_for(line, position));
        state.closed = open.as_ref().map(|open| open.start).or(state.closed);
        open.is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Choices {
    fn is_for(&self, line: &str, position: usize) -> bool {
        self.line.0 == line && self.line.1 == position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(line: &str, selected: Option<usize>) -> Choices {
        Choices {
            line: (line.to_owned(), line.len()),
            start: line.rfind('@').unwrap_or(0),
            items: ["@one", "@two", "@three"].map(str::to_owned).to_vec(),
            selected,
        }
    }

    fn inserted(offer: &Offer, line: &str) -> Option<String> {
        offer.chosen(line, line.len()).map(|(_, text)| text)
    }

    #[test]
    fn arrows_select_around_the_ends() {
        let offer = Offer::default();
        let line = "see @o";
        assert_eq!(offer.show(Some(choices(line, Some(0)))), Some(0));
        assert!(offer.step(line, 6, false));
        assert_eq!(inserted(&offer, line).as_deref(), Some("@three"));
        assert!(offer.step(line, 6, true) && offer.step(line, 6, true));
        // The same menu is drawn again.
        assert_eq!(offer.show(Some(choices(line, Some(0)))), Some(1));
        assert_eq!(inserted(&offer, line).as_deref(), Some("@two"));
        // Another line has other choices.
        assert!(!offer.step("see @on", 7, true));
        assert_eq!(inserted(&offer, "see @on"), None);
        assert_eq!(offer.show(Some(choices("see @on", Some(0)))), Some(0));
        assert_eq!(offer.show(None), None);
        assert!(!offer.step("see @on", 7, true));
    }

    #[test]
    fn without_a_selection_nothing_is_inserted() {
        let offer = Offer::default();
        offer.show(Some(choices("/o", None)));
        assert_eq!(inserted(&offer, "/o"), None);
        assert!(offer.step("/o", 2, true));
        assert_eq!(inserted(&offer, "/o").as_deref(), Some("@one"));
    }

    #[test]
    fn a_menu_that_was_closed_stays_closed_for_its_word() {
        let offer = Offer::default();
        assert!(!offer.is_wanted(4));
        offer.note_typed();
        assert!(offer.is_wanted(4));
        offer.show(Some(choices("see @o", Some(0))));
        assert!(offer.close("see @o", 6) && !offer.close("see @o", 6));
        assert!(!offer.is_wanted(4) && offer.is_wanted(9));
        offer.forget_closed();
        assert!(offer.is_wanted(4));
        offer.start();
        assert!(!offer.is_wanted(4));
    }
}
