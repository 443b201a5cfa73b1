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

/// Removes the entries whose key was seen before: a server that ignores cursors repeats its first page.
pub(super) fn without_repeated<T>(entries: &mut Vec<T>, key: impl Fn(&T) -> &str) {
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
