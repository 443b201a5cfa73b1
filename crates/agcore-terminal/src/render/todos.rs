//! Lists of todos that a model keeps.

use serde_json::Value;

use super::{layout::wrapped, style::Palette, text::sanitized_line};

/// The name of the tool with which a model changes its list of todos.
pub const UPDATE_TODOS: &str = "update_todos";

/// The member of the metadata of its results with the list: an array of objects with `content` and `status`.
pub const TODOS: &str = "todos";

/// The number of todos from which those that are done are only counted when the list changes.
const MANY: usize = 12;

/// The number of todos that are not done that are shown when the list changes.
const MAX_SHOWN: usize = 20;

/// The marks of the states.
const MARKS: [(&str, char); 3] = [("completed", '✓'), ("in_progress", '▶'), ("pending", '○')];

/// Returns a list as it is shown when a call has changed it, given the data for observers of the result. Returns `None` for calls
/// of other tools. Lines are wrapped to the window only if it shows them.
pub(super) fn called_list(tool: &str, display: &Value, palette: Palette, is_wrapped: bool) -> Option<String> {
    let list = display.get("metadata").filter(|_| tool == UPDATE_TODOS)?.get(TODOS)?;
    let items = items(list);
    let heading = format!("{}✓ todos{:#}", palette.success, palette.success);
    if items.is_empty() {
        return Some(format!("{heading} the list is empty\n"));
    }
    let is_done = |(status, _): &(&str, &str)| *status == "completed";
    let (done, open): (Vec<_>, Vec<_>) = items.iter().copied().partition(is_done);
    let mut lines = format!("{heading} {}\n", todo_count(list).unwrap_or_default());
    if items.len() <= MANY {
        return Some(lines + &rows(&items, palette, is_wrapped));
    }
    let dim = palette.dim;
    if !done.is_empty() {
        lines += &format!("  {dim}✓ {} done{dim:#}\n", done.len());
    }
    lines += &rows(&open[..open.len().min(MAX_SHOWN)], palette, is_wrapped);
    if open.len() > MAX_SHOWN {
        lines += &format!("  {dim}… {} more{dim:#}\n", open.len() - MAX_SHOWN);
    }
    Some(lines)
}

/// Formats all todos of a list, one on each line with the mark of its state, wrapped to the window and without control characters.
pub fn todo_list(list: &Value, palette: Palette) -> String {
    rows(&items(list), palette, true)
}

/// Describes how many todos of a list are done; `None` if it is empty.
pub fn todo_count(list: &Value) -> Option<String> {
    let items = items(list);
    let done = items.iter().filter(|(status, _)| *status == "completed").count();
    (!items.is_empty()).then(|| format!("{done} of {} done", items.len()))
}

/// Returns the state and the text of each todo.
fn items(list: &Value) -> Vec<(&str, &str)> {
    list.as_array().into_iter().flatten().filter_map(item).collect()
}

fn item(item: &Value) -> Option<(&str, &str)> {
    Some((item.get("status")?.as_str()?, item.get("content")?.as_str()?))
}

fn rows(items: &[(&str, &str)], palette: Palette, is_wrapped: bool) -> String {
    let row = |(status, content): &(&str, &str)| {
        let known = MARKS.iter().find(|(name, _)| name == status);
        let mark = known.map_or('○', |(_, mark)| *mark);
        let style = match *status {
            "completed" => palette.dim,
            "in_progress" => palette.tool,
            _ => anstyle::Style::new(),
        };
        let line = format!("  {mark} {}", sanitized_line(content));
        let line = if is_wrapped { wrapped(&line, 4) } else { line };
        format!("{style}{line}{style:#}\n")
    };
    items.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn list(done: usize, open: usize) -> Value {
        let item = |number: usize, status: &str| json!({"content": format!("todo {number}"), "status": status});
        let done_items = (0..done).map(|number| item(number, "completed"));
        let open_items =
            (done..done + open).map(|number| item(number, if number == done { "in_progress" } else { "pending" }));
        done_items.chain(open_items).collect()
    }

    fn shown(list: &Value) -> String {
        let display = json!({"metadata": {TODOS: list}});
        called_list(UPDATE_TODOS, &display, Palette::default(), true).unwrap()
    }

    #[test]
    fn a_changed_list_is_shown_with_marks() {
        assert_eq!(
            shown(&list(1, 2)),
            "✓ todos 1 of 3 done\n  ✓ todo 0\n  ▶ todo 1\n  ○ todo 2\n"
        );
        assert_eq!(shown(&json!([])), "✓ todos the list is empty\n");
        assert_eq!(todo_count(&json!([])), None);
        assert_eq!(todo_count(&Value::Null), None);
        let other = json!({"metadata": {TODOS: list(1, 1)}});
        assert_eq!(called_list("shell", &other, Palette::default(), true), None);
        assert_eq!(called_list(UPDATE_TODOS, &json!({}), Palette::default(), true), None);
    }

    #[test]
    fn long_lists_are_shortened_but_not_on_request() {
        let long = list(10, 30);
        let changed = shown(&long);
        assert!(
            changed.starts_with("✓ todos 10 of 40 done\n  ✓ 10 done\n  ▶ todo 10\n"),
            "{changed}"
        );
        assert!(changed.ends_with("  ○ todo 29\n  … 10 more\n"), "{changed}");
        assert_eq!(todo_list(&long, Palette::default()).lines().count(), 40);
    }

    #[test]
    fn todos_cannot_control_the_terminal() {
        let hostile = json!([
            {"content": "a\u{1b}[2J\u{202e}\nb", "status": "pending"},
            {"content": "字".repeat(100), "status": "?"},
            {"content": 1, "status": "pending"},
        ]);
        let shown = todo_list(&hostile, Palette::default());
        assert!(shown.starts_with("  ○ a\u{fffd}[2J\u{fffd} b\n  ○ 字"), "{shown}");
    }
}
