//! [`Calls`]: assembles tool calls from fragments, however a server splits them.
//!
//! A fragment belongs to the call with its index, or else to the call with its id, or else to the call opened last, unless
//! the fragment contradicts that. Another id with a known index begins another call. Ids and names are set and never
//! cleared; input is appended.

use agcore_chat::{CallInput, Extra, Text, ToolCall, VendorData};

use crate::delta::CallFragment;

/// The calls of one choice, in order of appearance.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<PartialCall>);

#[derive(Debug, Default)]
struct PartialCall {
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
    /// Adds a fragment. Returns the position of its call, and whether the call is new.
    pub(super) fn push(&mut self, fragment: &CallFragment) -> (usize, bool) {
        let fields = Fields::new(fragment);
        let (at, is_new) = match self.owner(&fields) {
            Some(at) => (at, false),
            None => {
                self.0.push(PartialCall {
                    index: fragment.index,
                    ..PartialCall::default()
                });
                (self.0.len() - 1, true)
            }
        };
        self.0[at].extend(&fields, fragment);
        (at, is_new)
    }

    /// Returns the id and name of a call, which are empty while unknown.
    pub(super) fn get(&self, at: usize) -> Option<(&str, &str)> {
        self.0.get(at).map(|call| (call.id.as_str(), call.name.as_str()))
    }

    /// Returns the complete calls. A call without an id, or with the id of another call, gets a new one, because results
    /// refer to their call by id.
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
            let PartialCall {
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

    /// Returns the position of the call that a fragment continues, or `None` if it begins one.
    fn owner(&self, fields: &Fields<'_>) -> Option<usize> {
        let by_id = || self.0.iter().rposition(|call| fields.id == Some(&*call.id));
        if fields.index.is_some() {
            let by_index = self.0.iter().rposition(|call| call.index == fields.index);
            let same = by_index.filter(|at| !self.0[*at].conflicts_with(fields));
            // Some servers give every call the index 0, and some send no index with the first fragments of a call.
            return match by_index {
                Some(_) => same.or_else(by_id),
                None => by_id()
                    .filter(|at| self.0[*at].index.is_none())
                    .or_else(|| self.last_without_index(fields)),
            };
        }
        let last = self.0.len().checked_sub(1)?;
        match (fields.id, fields.name) {
            (Some(_), name) => {
                // Input may arrive before the id and name, and the name before the id.
                let is_open = |call: &PartialCall| call.id.is_empty() && (call.name.is_empty() || name.is_none());
                by_id().or_else(|| is_open(&self.0[last]).then_some(last))
            }
            // A name without index or id begins a call, unless the name itself arrives in pieces.
            (None, Some(name)) => {
                let call = &self.0[last];
                let continues = call.name.is_empty() || (call.input.is_empty() && fields.input.is_none());
                (continues || call.name == name && fields.input.is_none()).then_some(last)
            }
            (None, None) => Some(last),
        }
    }

    /// Returns the last call, if it has no index and a fragment with an index and without a name continues it.
    fn last_without_index(&self, fields: &Fields<'_>) -> Option<usize> {
        let last = self.0.last()?;
        let continues = last.index.is_none() && fields.name.is_none() && !last.conflicts_with(fields);
        continues.then(|| self.0.len() - 1)
    }
}

/// The fields of a fragment, `None` if empty.
struct Fields<'a> {
    index: Option<u32>,
    id: Option<&'a str>,
    name: Option<&'a str>,
    input: Option<&'a str>,
}

impl<'a> Fields<'a> {
    fn new(fragment: &'a CallFragment) -> Self {
        Self {
            index: fragment.index,
            id: non_empty(fragment.id.as_ref()),
            name: non_empty(fragment.name.as_ref()),
            input: non_empty(fragment.input.as_ref()),
        }
    }
}

fn is_taken(calls: &[ToolCall], id: &str) -> bool {
    calls.iter().any(|call| call.id == id)
}

/// Returns the first of the candidates that is not taken. The candidates must be endless.
pub(crate) fn first_free(candidates: impl IntoIterator<Item = String>, is_taken: impl Fn(&str) -> bool) -> String {
    let mut candidates = candidates.into_iter();
    candidates.find(|id| !is_taken(id)).unwrap_or_default()
}

/// Returns a numbered id that no call has.
fn free_id(calls: &[ToolCall], id: &str) -> String {
    let base = if id.is_empty() { "call" } else { id };
    let numbered = (calls.len()..).map(|number| format!("{base}_{number}"));
    first_free(numbered, |id| is_taken(calls, id))
}

impl PartialCall {
    /// Returns whether a fragment with the index of this call belongs to another one: its id differs, or, if ids are
    /// missing, it names another tool although this call already has input.
    fn conflicts_with(&self, fields: &Fields<'_>) -> bool {
        match fields.id.filter(|_| !self.id.is_empty()) {
            Some(id) => self.id != id,
            None => fields
                .name
                .is_some_and(|name| self.has_name_and_input() && self.name != name),
        }
    }

    fn has_name_and_input(&self) -> bool {
        !self.name.is_empty() && !self.input.is_empty()
    }

    fn extend(&mut self, fields: &Fields<'_>, fragment: &CallFragment) {
        self.custom |= fragment.custom;
        self.index = self.index.or(fields.index);
        if let Some(id) = fields.id.filter(|_| self.id.is_empty()) {
            self.id = id.to_owned();
        }
        if let Some(name) = fields.name.filter(|name| self.name != *name) {
            if self.name.is_empty() || fields.id.is_some() {
                self.name = name.to_owned();
            } else {
                self.name.push_str(name);
            }
        }
        if let Some(input) = fields.input {
            if self.input.is_empty() || fragment.whole_input {
                self.input = input.to_owned();
            } else if !self.is_repeated(input) {
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

    /// Returns whether this input repeats the whole arguments, as some gateways do at the end.
    fn is_repeated(&self, input: &str) -> bool {
        !self.custom && self.input == input && input.starts_with('{') && input.len() > 2 && input.ends_with('}')
    }
}

fn non_empty(text: Option<&Text>) -> Option<&str> {
    text.map(Text::as_str).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks fragments, written as `index|id|name|input`, against calls, written as `id name input`.
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
    fn assigns_fragments_by_index() {
        check(
            &["0|a|f|", "1|b|g|", "0|||{\"x\"", "1|||{}", "0|||:1}"],
            &["a f {\"x\":1}", "b g {}"],
        );
        check(&["1|a|f|{}", "7|b|g|{}"], &["a f {}", "b g {}"]);
    }

    #[test]
    fn begins_a_call_for_another_id() {
        check(&["0|a|f|{}", "0|b|f|{}"], &["a f {}", "b f {}"]);
        check(&["|a|f|{}", "|b|g|{}"], &["a f {}", "b g {}"]);
        check(&["0||f|{\"a\":1}", "0||g|{}"], &["call_0 f {\"a\":1}", "call_1 g {}"]);
    }

    #[test]
    fn assigns_fragments_by_id_where_indexes_are_useless() {
        // Every call has the index 0.
        check(&["0|a|f|{", "0|b|g|{", "0|a||}", "0|b||}"], &["a f {}", "b g {}"]);
        // Only later fragments have an index, with an id or without.
        check(&["|a|f|", "0|a||{}"], &["a f {}"]);
        check(&["|a|f|", "0|||{", "0|||}"], &["a f {}"]);
        check(&["|a|f|{}", "1|b|g|{}"], &["a f {}", "b g {}"]);
        check(&["||f|{}", "0||g|{}"], &["call_0 f {}", "call_1 g {}"]);
        // The id arrives after the name.
        check(&["||f|", "|a||{}"], &["a f {}"]);
        // The first call has no id.
        check(&["0||f|{}", "0|b|g|{}"], &["call_0 f {}", "b g {}"]);
    }

    #[test]
    fn continues_the_call_opened_last() {
        check(&["|a|f|{\"x\"", "|||:1}"], &["a f {\"x\":1}"]);
        check(&["|a|f|", "|b|g|", "|||{}"], &["a f ", "b g {}"]);
    }

    #[test]
    fn keeps_values_when_a_fragment_is_empty() {
        check(&["0|a|f|{", "0||||", "0|||}"], &["a f {}"]);
    }

    #[test]
    fn ignores_repeated_names_and_joins_pieces() {
        check(&["0|a|get|{", "0|a|get|}"], &["a get {}"]);
        check(&["0|a|get_|", "0||weather|", "0|||{}"], &["a get_weather {}"]);
    }

    #[test]
    fn keeps_input_that_arrives_before_the_name() {
        check(&["|||{\"x\":", "|||1}", "|a|f|"], &["a f {\"x\":1}"]);
        check(&["|||{}", "||f|"], &["call_0 f {}"]);
    }

    #[test]
    fn creates_ids_that_are_missing_or_duplicate() {
        check(&["0||f|{}", "1||g|{}"], &["call_0 f {}", "call_1 g {}"]);
        check(&["||f|{}", "||f|{}"], &["call_0 f {}", "call_1 f {}"]);
        check(&["0|x|f|{}", "1|x|f|{}"], &["x f {}", "x_1 f {}"]);
    }

    #[test]
    fn ignores_repeated_arguments_but_keeps_concatenated_objects() {
        check(&["0|a|f|{\"x\":1}", "0|||{\"x\":1}"], &["a f {\"x\":1}"]);
        check(&["0|a|f|{\"x\":1}", "0|||{\"x\":2}"], &["a f {\"x\":1}{\"x\":2}"]);
    }

    #[test]
    fn skips_ids_that_are_taken() {
        let numbered = || (0..).map(|number| format!("call_{number}"));
        assert_eq!(first_free(numbered(), |_| false), "call_0");
        assert_eq!(
            first_free(numbered(), |id| ["call_0", "call_1"].contains(&id)),
            "call_2"
        );
    }
}
