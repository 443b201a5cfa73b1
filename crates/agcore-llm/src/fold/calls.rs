//! [`Calls`]: tool calls out of fragments, for all the ways in which servers cut them.
//!
//! A fragment belongs to the call of its index, else to that of its id, else to the call opened last, as far as neither says
//! otherwise. A new id under a used index is another call. Ids and names are set and never overwritten by nothing, input appends.

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
        let told = Told::of(fragment);
        let (at, is_new) = match self.owner(&told) {
            Some(at) => (at, false),
            None => {
                self.0.push(Partial {
                    index: fragment.index,
                    ..Partial::default()
                });
                (self.0.len() - 1, true)
            }
        };
        self.0[at].extend(&told, fragment);
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
            let id = match partial.id {
                id if id.is_empty() || is_taken(&calls, &id) => free_id(&calls, &id),
                id => id,
            };
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
    fn owner(&self, told: &Told<'_>) -> Option<usize> {
        let of_id = || self.0.iter().rposition(|call| told.id == Some(&*call.id));
        if told.index.is_some() {
            let of_index = self.0.iter().rposition(|call| call.index == told.index);
            let same = of_index.filter(|at| !self.0[*at].is_other(told));
            // Some servers count all calls as the first, and some begin to count in the middle of a call.
            return match of_index {
                Some(_) => same.or_else(of_id),
                None => of_id()
                    .filter(|at| self.0[*at].index.is_none())
                    .or_else(|| self.uncounted(told)),
            };
        }
        let last = self.0.len().checked_sub(1)?;
        match (told.id, told.name) {
            (Some(_), name) => {
                // Input may come before id and name, and the name before the id.
                let is_open = |call: &Partial| call.id.is_empty() && (call.name.is_empty() || name.is_none());
                of_id().or_else(|| is_open(&self.0[last]).then_some(last))
            }
            // Neither index nor id, but a name: a new call, unless the name itself comes in pieces.
            (None, Some(name)) => {
                let call = &self.0[last];
                let goes_on = call.name.is_empty() || (call.input.is_empty() && told.input.is_none());
                (goes_on || call.name == name && told.input.is_none()).then_some(last)
            }
            (None, None) => Some(last),
        }
    }

    /// The call without an index that a fragment with one goes on with: the last, when the fragment names none.
    fn uncounted(&self, told: &Told<'_>) -> Option<usize> {
        let last = self.0.last()?;
        let goes_on = last.index.is_none() && told.name.is_none() && !last.is_other(told);
        goes_on.then(|| self.0.len() - 1)
    }
}

/// What a fragment says that is new.
struct Told<'a> {
    index: Option<u32>,
    id: Option<&'a str>,
    name: Option<&'a str>,
    input: Option<&'a str>,
}

impl<'a> Told<'a> {
    fn of(fragment: &'a CallFragment) -> Self {
        Self {
            index: fragment.index,
            id: known(fragment.id.as_ref()),
            name: known(fragment.name.as_ref()),
            input: known(fragment.input.as_ref()),
        }
    }
}

fn is_taken(calls: &[ToolCall], id: &str) -> bool {
    calls.iter().any(|call| call.id == id)
}

/// An id made of this one that no call has.
fn free_id(calls: &[ToolCall], id: &str) -> String {
    let base = if id.is_empty() { "call" } else { id };
    let mut numbered = (calls.len()..).map(|number| format!("{base}_{number}"));
    numbered.find(|id| !is_taken(calls, id)).unwrap_or_default()
}

impl Partial {
    /// Whether a fragment under this call's index is of another call: its id differs, or, where ids are missing, it names
    /// another tool although this call's input has begun.
    fn is_other(&self, told: &Told<'_>) -> bool {
        match told.id.filter(|_| !self.id.is_empty()) {
            Some(id) => self.id != id,
            None => told.name.is_some_and(|name| self.is_begun() && self.name != name),
        }
    }

    /// Whether its name is known and its input has begun.
    fn is_begun(&self) -> bool {
        !self.name.is_empty() && !self.input.is_empty()
    }

    fn extend(&mut self, told: &Told<'_>, fragment: &CallFragment) {
        self.custom |= fragment.custom;
        self.index = self.index.or(told.index);
        if let Some(id) = told.id.filter(|_| self.id.is_empty()) {
            self.id = id.to_owned();
        }
        if let Some(name) = told.name.filter(|name| self.name != *name) {
            if self.name.is_empty() || told.id.is_some() {
                self.name = name.to_owned();
            } else {
                self.name.push_str(name);
            }
        }
        if let Some(input) = told.input {
            if self.input.is_empty() || fragment.whole_input {
                self.input = input.to_owned();
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
        !self.custom && self.input == input && input.starts_with('{') && input.len() > 2 && input.ends_with('}')
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
    fn knows_a_call_by_its_id_where_indexes_say_nothing() {
        // All are counted as the first.
        check(&["0|a|f|{", "0|b|g|{", "0|a||}", "0|b||}"], &["a f {}", "b g {}"]);
        // Counted from the second fragment on, with an id and without.
        check(&["|a|f|", "0|a||{}"], &["a f {}"]);
        check(&["|a|f|", "0|||{", "0|||}"], &["a f {}"]);
        check(&["|a|f|{}", "1|b|g|{}"], &["a f {}", "b g {}"]);
        check(&["||f|{}", "0||g|{}"], &["call_0 f {}", "call_1 g {}"]);
        // The id comes after the name.
        check(&["||f|", "|a||{}"], &["a f {}"]);
        // The first has no id.
        check(&["0||f|{}", "0|b|g|{}"], &["call_0 f {}", "b g {}"]);
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
