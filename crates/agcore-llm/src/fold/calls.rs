//! [`Calls`]: tool calls out of fragments, for all the ways in which servers cut them.
//!
//! A fragment belongs to the call of its index; without one, to the call of its id; without both, to the call opened last.
//! A new id under a used index is another call. Ids and names are set and never overwritten by nothing, input appends.

use agcore_chat::{CallInput, Extra, Text, ToolCall, VendorData};

use crate::delta::CallFragment;

/// The calls of one choice, in order of appearance.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Partial>);

#[derive(Debug, Default)]
struct Partial {
    index: Option<u32>,
    id: String,
    name: String,
    input: String,
    custom: bool,
    vendor: Option<VendorData>,
    extra: Extra,
    inner: Extra,
}

impl Calls {
    /// Takes a fragment; gives its call's place and whether the call is new.
    pub(super) fn push(&mut self, fragment: &CallFragment) -> (usize, bool) {
        let (at, is_new) = match self.owner(fragment) {
            Some(at) => (at, false),
            None => {
                self.0.push(Partial {
                    index: fragment.index,
                    ..Partial::default()
                });
                (self.0.len() - 1, true)
            }
        };
        self.0[at].extend(fragment);
        (at, is_new)
    }

    /// Id and name of a call, as far as they are known.
    pub(super) fn get(&self, at: usize) -> Option<(&str, &str)> {
        self.0.get(at).map(|call| (call.id.as_str(), call.name.as_str()))
    }

    /// The whole calls. One without an id gets one, one whose id another call has gets another: results must find them.
    pub(super) fn finish(self) -> Vec<ToolCall> {
        let mut calls: Vec<ToolCall> = Vec::with_capacity(self.0.len());
        for partial in self.0 {
            let taken = |id: &str| calls.iter().any(|call| call.id == id);
            let mut id = partial.id;
            let mut number = calls.len();
            let base = if id.is_empty() { "call".to_owned() } else { id.clone() };
            while id.is_empty() || taken(&id) {
                id = format!("{base}_{number}");
                number += 1;
            }
            let input = if partial.custom {
                CallInput::Text(partial.input)
            } else {
                CallInput::Arguments(partial.input.into())
            };
            let Partial {
                name,
                vendor,
                extra,
                inner,
                ..
            } = partial;
            calls.push(ToolCall {
                id,
                name,
                input,
                vendor,
                extra,
                inner,
            });
        }
        calls
    }

    /// The call that a fragment goes on with, if it does not begin one.
    fn owner(&self, fragment: &CallFragment) -> Option<usize> {
        let id = known(fragment.id.as_ref());
        if let Some(index) = fragment.index {
            let at = self.0.iter().rposition(|call| call.index == Some(index))?;
            return (!self.0[at].is_other(id, fragment)).then_some(at);
        }
        let last = self.0.len().checked_sub(1)?;
        match (id, known(fragment.name.as_ref())) {
            (Some(id), _) => {
                let same = self.0.iter().rposition(|call| call.id == id);
                // Input may come before id and name.
                same.or_else(|| (self.0[last].id.is_empty() && self.0[last].name.is_empty()).then_some(last))
            }
            // Neither index nor id, but a name: a new call, unless the name itself comes in pieces.
            (None, Some(name)) => {
                let call = &self.0[last];
                let goes_on =
                    call.name.is_empty() || (call.input.is_empty() && known(fragment.input.as_ref()).is_none());
                (goes_on || call.name == name && known(fragment.input.as_ref()).is_none()).then_some(last)
            }
            (None, None) => Some(last),
        }
    }
}

impl Partial {
    /// Whether a fragment under this call's index is of another call: its id differs, or, where ids are missing, it names
    /// another tool although this call's input has begun.
    fn is_other(&self, id: Option<&str>, fragment: &CallFragment) -> bool {
        match id {
            Some(id) => !self.id.is_empty() && self.id != id,
            None => known(fragment.name.as_ref()).is_some_and(|name| !self.input.is_empty() && self.name != name),
        }
    }

    fn extend(&mut self, fragment: &CallFragment) {
        self.custom |= fragment.custom;
        let id = known(fragment.id.as_ref());
        if let Some(id) = id.filter(|_| self.id.is_empty()) {
            id.clone_into(&mut self.id);
        }
        if let Some(name) = known(fragment.name.as_ref()) {
            if self.name.is_empty() || id.is_some() {
                name.clone_into(&mut self.name);
            } else if self.name != name {
                self.name.push_str(name);
            }
        }
        if let Some(input) = known(fragment.input.as_ref()) {
            if fragment.whole_input {
                input.clone_into(&mut self.input);
            } else if !self.is_repeat(input) {
                self.input.push_str(input);
            }
        }
        if let Some(vendor) = &fragment.vendor {
            self.vendor = Some(vendor.clone());
        }
        for (to, from) in [(&mut self.extra, &fragment.extra), (&mut self.inner, &fragment.inner)] {
            from.iter()
                .for_each(|(name, value)| drop(to.insert(name, value.clone())));
        }
    }

    /// Some gateways send the whole arguments once more at the end.
    fn is_repeat(&self, input: &str) -> bool {
        self.input == input && input.starts_with('{') && input.len() > 2 && input.ends_with('}')
    }
}

/// The text, unless it is missing or empty: both mean that there is nothing new.
fn known(text: Option<&Text>) -> Option<&str> {
    text.map(Text::as_str).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fragments as `index|id|name|input`, calls as `id name input`.
    fn check(fragments: &[&str], expected: &[&str]) {
        let mut calls = Calls::default();
        for fragment in fragments {
            let part: Vec<&str> = fragment.split('|').collect();
            let text = |at: usize| Some(Text::from(part[at]));
            calls.push(&CallFragment {
                index: part[0].parse().ok(),
                id: text(1),
                name: text(2),
                input: text(3),
                ..CallFragment::default()
            });
        }
        let found: Vec<String> = calls
            .finish()
            .iter()
            .map(|call| format!("{} {} {}", call.id, call.name, call.raw_input()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn keys_by_index() {
        check(
            &["0|a|f|", "1|b|g|", "0|||{\"x\"", "1|||{}", "0|||:1}"],
            &["a f {\"x\":1}", "b g {}"],
        );
        check(&["1|a|f|{}", "7|b|g|{}"], &["a f {}", "b g {}"]);
    }

    #[test]
    fn takes_another_id_for_another_call() {
        check(&["0|a|f|{}", "0|b|f|{}"], &["a f {}", "b f {}"]);
        check(&["|a|f|{}", "|b|g|{}"], &["a f {}", "b g {}"]);
        check(&["0||f|{\"a\":1}", "0||g|{}"], &["call_0 f {\"a\":1}", "call_1 g {}"]);
    }

    #[test]
    fn goes_on_with_the_call_opened_last() {
        check(&["|a|f|{\"x\"", "|||:1}"], &["a f {\"x\":1}"]);
        check(&["|a|f|", "|b|g|", "|||{}"], &["a f ", "b g {}"]);
    }

    #[test]
    fn never_overwrites_with_nothing() {
        check(&["0|a|f|{", "0||||", "0|||}"], &["a f {}"]);
    }

    #[test]
    fn sets_repeated_names_and_joins_pieces() {
        check(&["0|a|get|{", "0|a|get|}"], &["a get {}"]);
        check(&["0|a|get_|", "0||weather|", "0|||{}"], &["a get_weather {}"]);
    }

    #[test]
    fn holds_input_until_the_name_is_known() {
        check(&["|||{\"x\":", "|||1}", "|a|f|"], &["a f {\"x\":1}"]);
        check(&["|||{}", "||f|"], &["call_0 f {}"]);
    }

    #[test]
    fn makes_ids_up_where_they_are_missing_or_doubled() {
        check(&["0||f|{}", "1||g|{}"], &["call_0 f {}", "call_1 g {}"]);
        check(&["||f|{}", "||f|{}"], &["call_0 f {}", "call_1 f {}"]);
        check(&["0|x|f|{}", "1|x|f|{}"], &["x f {}", "x_1 f {}"]);
    }

    #[test]
    fn accepts_a_whole_repeat_but_shows_glued_objects() {
        check(&["0|a|f|{\"x\":1}", "0|||{\"x\":1}"], &["a f {\"x\":1}"]);
        check(&["0|a|f|{\"x\":1}", "0|||{\"x\":2}"], &["a f {\"x\":1}{\"x\":2}"]);
    }
}
