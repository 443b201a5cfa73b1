//! Lists of a server: pages, and entries that are malformed.

use std::collections::HashSet;

use rmcp::model::ServerResult;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::repair::repair;
use crate::error::quote;

/// The members of entries that can be left out, in the order in which they are.
const OPTIONAL: &[&str] = &[
    "_meta",
    "icons",
    "execution",
    "title",
    "annotations",
    "size",
    "mimeType",
    "description",
    "outputSchema",
];

/// The number of pages in a row without anything new after which a list ends. Some are empty because a server filters them.
const MAX_IDLE_PAGES: usize = 10;

/// A page of a list: the entries, or why they cannot be read, and the cursor of the next page.
pub(super) type Page<T> = (Vec<Result<T, String>>, Option<String>);

/// A list from all of its pages.
#[derive(Debug)]
pub(crate) struct List<T> {
    pub(crate) entries: Vec<T>,
    /// Why entries were left out.
    pub(crate) problems: Vec<String>,
    /// Why the list may be incomplete.
    pub(crate) warning: Option<String>,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            problems: Vec::new(),
            warning: None,
        }
    }
}

/// The cursors that have been followed.
#[derive(Debug, Default)]
pub(super) struct Cursors {
    seen: HashSet<String>,
    /// Whether a cursor may be empty.
    is_stateless: bool,
}

/// Where a list continues.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Page(String),
    End,
    /// The cursor leads nowhere; the reason.
    Stuck(String),
}

impl Cursors {
    /// Creates a record for a list. Only a server without sessions may use an empty cursor.
    pub(super) fn new(is_stateless: bool) -> Self {
        Self {
            seen: HashSet::new(),
            is_stateless,
        }
    }

    /// Decides about the cursor of a page.
    pub(super) fn next(&mut self, cursor: Option<String>) -> Next {
        match cursor {
            None => Next::End,
            Some(cursor) if cursor.is_empty() && !self.is_stateless => {
                Next::Stuck("the server gives an empty cursor for the next page".to_owned())
            }
            Some(cursor) if self.seen.insert(cursor.clone()) => Next::Page(cursor),
            Some(cursor) => {
                let cursor = quote(agcore_chat::text::prefix(&cursor, 100));
                Next::Stuck(format!("the server repeats the cursor {cursor:?}"))
            }
        }
    }
}

/// A list while its pages are read.
#[derive(Debug)]
pub(super) struct Pages<T> {
    list: List<T>,
    count: usize,
    /// How many of the last pages brought nothing new.
    idle: usize,
    /// The keys of the entries, and the problems of those that were left out.
    seen: HashSet<String>,
    cursors: Cursors,
    max_entries: usize,
}

impl<T> Pages<T> {
    pub(super) fn new(cursors: Cursors, max_entries: usize) -> Self {
        Self {
            list: List::default(),
            count: 0,
            idle: 0,
            seen: HashSet::new(),
            cursors,
            max_entries,
        }
    }

    /// Returns the number of pages.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns whether no page had an entry.
    pub(super) fn is_empty(&self) -> bool {
        self.list.entries.is_empty()
    }

    /// Adds a page, and returns where the list continues. `key` identifies an entry.
    pub(super) fn add(&mut self, (entries, cursor): Page<T>, key: impl Fn(&T) -> &str) -> Next {
        let before = self.seen.len();
        for entry in entries {
            match entry {
                Ok(entry) => {
                    self.seen.insert(key(&entry).to_owned());
                    self.list.entries.push(entry);
                }
                Err(problem) => {
                    self.seen.insert(problem.clone());
                    self.list.problems.push(problem);
                }
            }
        }
        self.count += 1;
        self.idle = if self.seen.len() > before { 0 } else { self.idle + 1 };
        if self.is_too_long() {
            without_repeated(&mut self.list.entries, key);
        }
        if self.is_too_long() {
            self.list.entries.truncate(self.max_entries);
            self.list.problems.truncate(self.max_entries);
            return Next::Stuck(format!("the server lists more than {} entries", self.max_entries));
        }
        match self.cursors.next(cursor) {
            Next::Page(_) if self.idle == MAX_IDLE_PAGES => {
                Next::Stuck(format!("{MAX_IDLE_PAGES} pages in a row brought nothing new"))
            }
            next => next,
        }
    }

    fn is_too_long(&self) -> bool {
        self.list.entries.len() + self.list.problems.len() > self.max_entries
    }

    /// Returns the list whose last page was read.
    pub(super) fn complete(self) -> List<T> {
        self.list
    }

    /// Returns what was read of a list that does not continue, with the warning.
    pub(super) fn incomplete(mut self, warning: String, key: impl Fn(&T) -> &str) -> List<T> {
        without_repeated(&mut self.list.entries, key);
        self.list.warning = Some(warning);
        self.list
    }
}

/// Removes the entries whose key was seen before: a server that ignores cursors repeats its first page.
fn without_repeated<T>(entries: &mut Vec<T>, key: impl Fn(&T) -> &str) {
    let mut seen = HashSet::new();
    entries.retain(|entry| seen.insert(key(entry).to_owned()));
}

/// Reads the page of a list that the library cannot read as a whole: entries are malformed, or PHP wrote the list as an
/// object. Returns `None` if the result has no such list.
pub(super) fn lenient_page<T: DeserializeOwned>(result: ServerResult, member: &str) -> Option<Page<T>> {
    let ServerResult::CustomResult(result) = result else {
        return None;
    };
    let Value::Object(mut members) = result.0 else {
        return None;
    };
    let next = match members.remove("nextCursor") {
        Some(Value::String(cursor)) => Some(cursor),
        Some(Value::Number(cursor)) => Some(cursor.to_string()),
        _ => None,
    };
    let list = match members.remove(member)? {
        Value::Array(list) => list,
        // A list with gaps is an object with numbers as keys.
        Value::Object(list) => list.into_iter().map(|(_, entry)| entry).collect(),
        Value::Null => Vec::new(),
        _ => return None,
    };
    Some((list.into_iter().map(|one| entry(one, member)).collect(), next))
}

/// Reads an entry of the list in a member, without optional members whose type is wrong.
fn entry<T: DeserializeOwned>(entry: Value, list: &str) -> Result<T, String> {
    let error = match T::deserialize(&entry) {
        Ok(read) => return Ok(read),
        Err(error) => error,
    };
    let Value::Object(mut members) = entry else {
        return Err("an entry of the list is not an object".to_owned());
    };
    let name = members.get("name").and_then(Value::as_str).unwrap_or_default();
    let name = quote(agcore_chat::text::prefix(name, 100));
    if let Some(schema) = members.get_mut("inputSchema")
        && schema.as_array().is_some_and(Vec::is_empty)
    {
        *schema = Value::Object(Map::new());
    }
    repair(list, &mut members);
    let is_empty = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    members.retain(|name, value| !(OPTIONAL.contains(&&**name) && is_empty(value)));
    let mut removed = OPTIONAL.iter();
    loop {
        if let Ok(read) = T::deserialize(&Value::Object(members.clone())) {
            return Ok(read);
        }
        match removed.next() {
            Some(optional) => members.remove(*optional),
            None => break,
        };
    }
    let reason = match members.get("inputSchema") {
        Some(Value::Null) => "its `inputSchema` is null".to_owned(),
        Some(Value::String(_)) => "its `inputSchema` is a string".to_owned(),
        Some(schema) if !schema.is_object() => "its `inputSchema` is not an object".to_owned(),
        _ => quote(&error.to_string()),
    };
    Err(format!("{name:?} is malformed: {reason}"))
}

#[cfg(test)]
mod tests {
    use rmcp::model::{CustomResult, Prompt, Tool};
    use serde_json::json;

    use super::*;

    #[test]
    fn cursors_that_lead_nowhere_end_the_list() {
        let page = |cursor: &str| Next::Page(cursor.to_owned());
        let text = |cursor: &str| Some(cursor.to_owned());
        let mut cursors = Cursors::new(false);
        assert_eq!(cursors.next(text("a")), page("a"));
        assert_eq!(cursors.next(text("b")), page("b"));
        assert!(matches!(cursors.next(text("a")), Next::Stuck(reason) if reason.contains("repeats the cursor \"a\"")));
        assert!(matches!(cursors.next(text("")), Next::Stuck(_)));
        assert_eq!(cursors.next(None), Next::End);

        let mut cursors = Cursors::new(true);
        assert_eq!(cursors.next(text("")), page(""));
        assert!(matches!(cursors.next(text("")), Next::Stuck(_)));
    }

    fn page(names: &[&str], cursor: usize) -> Page<String> {
        let entries = names.iter().map(|name| Ok((*name).to_owned())).collect();
        (entries, Some(cursor.to_string()))
    }

    #[test]
    fn pages_without_anything_new_end_the_list() {
        for repeated in [&["a", "b"][..], &[]] {
            let mut pages = Pages::new(Cursors::new(false), 100);
            assert_eq!(
                pages.add(page(&["a", "b"], 0), String::as_str),
                Next::Page("0".to_owned())
            );
            let mut last = Next::End;
            while pages.count() < 11 {
                assert!(!matches!(last, Next::Stuck(_)));
                last = pages.add(page(repeated, pages.count()), String::as_str);
            }
            assert_eq!(last, Next::Stuck("10 pages in a row brought nothing new".to_owned()));
            let list = pages.incomplete("why".to_owned(), String::as_str);
            assert_eq!((list.entries.len(), list.warning.as_deref()), (2, Some("why")));
        }
        // A few empty pages, or an empty last one, are normal.
        let mut pages = Pages::new(Cursors::new(false), 100);
        for number in 0..9 {
            assert!(matches!(pages.add(page(&[], number), String::as_str), Next::Page(_)));
        }
        assert!(matches!(pages.add(page(&["a"], 9), String::as_str), Next::Page(_)));
        assert_eq!(pages.add((Vec::new(), None), String::as_str), Next::End);
        assert_eq!(pages.complete().entries, ["a"]);
    }

    #[test]
    fn long_lists_are_cut() {
        let mut pages = Pages::new(Cursors::new(false), 3);
        // Repeated entries do not count.
        for number in 0..2 {
            assert!(matches!(
                pages.add(page(&["a", "b"], number), String::as_str),
                Next::Page(_)
            ));
        }
        let reason = "the server lists more than 3 entries".to_owned();
        assert_eq!(pages.add(page(&["c", "d"], 2), String::as_str), Next::Stuck(reason));
        assert_eq!(pages.complete().entries, ["a", "b", "c"]);
    }

    fn tools(list: Value) -> Option<Page<Tool>> {
        lenient_page(
            ServerResult::CustomResult(CustomResult::new(json!({"tools": list}))),
            "tools",
        )
    }

    #[test]
    fn malformed_entries_do_not_hide_the_others() {
        let good = json!({"name": "a", "inputSchema": {"type": "object"}});
        let (page, _) = tools(json!([{"name": "b"}, good, 7])).unwrap();
        let names: Vec<_> = page
            .iter()
            .map(|entry| entry.as_ref().map(|tool| &*tool.name))
            .collect();
        assert_eq!(names[1], Ok("a"));
        assert!(
            names[0]
                .as_ref()
                .is_err_and(|reason| reason.starts_with("\"b\" is malformed: missing field"))
        );
        assert!(names[2].is_err());
    }

    #[test]
    fn reasons_name_the_schema() {
        for (schema, reason) in [
            (json!(null), "is null"),
            (json!("{}"), "is a string"),
            (json!(1), "is not an object"),
        ] {
            let (page, _) = tools(json!([{"name": "b", "inputSchema": schema}])).unwrap();
            assert!(page[0].as_ref().is_err_and(|error| error.ends_with(reason)), "{page:?}");
        }
    }

    #[test]
    fn optional_members_of_a_wrong_type_are_left_out() {
        let (page, _) =
            tools(json!({"0": {"name": "a", "inputSchema": [], "outputSchema": [], "annotations": []}})).unwrap();
        assert!(
            page[0].as_ref().is_ok_and(|tool| tool.output_schema.is_none()),
            "{page:?}"
        );
        let (page, _) = tools(json!([{"name": "a", "inputSchema": {}, "title": 7, "description": "d"}])).unwrap();
        let tool = page[0].as_ref().unwrap();
        assert_eq!((tool.title.as_deref(), tool.description.as_deref()), (None, Some("d")));
        assert!(tools(json!(null)).unwrap().0.is_empty());
        assert!(tools(json!(7)).is_none());
        let prompts = json!({"prompts": [{"name": "p", "description": 1}, {}], "nextCursor": 2});
        let result = ServerResult::CustomResult(CustomResult::new(prompts));
        let (page, next) = lenient_page::<Prompt>(result, "prompts").unwrap();
        assert!(page[0].is_ok() && page[1].is_err());
        assert_eq!(next.as_deref(), Some("2"));
    }
}
