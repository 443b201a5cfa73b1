//! [`ToolNames`]: display names of tools.

use std::collections::BTreeMap;

/// Display names of tools, for people. On the wire, tools have their canonical names.
///
/// A name is looked up in its canonical form (`calendar.read`) and in the forms in which models and vendors write it
/// (`calendar_read`, `calendar-read`, `Calendar.Read`). Unknown names are returned as they are.
///
/// ```
/// use agcore_agui::ToolNames;
///
/// let names = ToolNames::new().with("calendar.read", "Read the calendar");
/// assert_eq!(names.display("calendar_read"), "Read the calendar");
/// assert_eq!(names.display("weather"), "weather");
///
/// assert_eq!(ToolNames::sample_zh().display("memory_update"), "更新记忆");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolNames {
    /// By the normalised name.
    names: BTreeMap<String, String>,
}

impl ToolNames {
    /// Creates a table without names.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a table with the Chinese names of the tools of the sample application: a calendar, contacts, and the memory of the
    /// user.
    pub fn sample_zh() -> Self {
        [
            ("calendar.read", "读取日程"),
            ("calendar.create", "创建日程"),
            ("calendar.update", "更新日程"),
            ("calendar.delete", "删除日程"),
            ("calendar.share", "邀请参与者"),
            ("calendar.accept", "接受邀请"),
            ("calendar.reject", "拒绝邀请"),
            ("contacts.read", "读取联系人"),
            ("memory.update", "更新记忆"),
        ]
        .into_iter()
        .collect()
    }

    /// Adds the display name of a tool, and replaces an earlier one.
    #[must_use]
    pub fn with(mut self, tool: &str, display: impl Into<String>) -> Self {
        self.insert(tool, display);
        self
    }

    /// Adds the display name of a tool. Returns the earlier one.
    pub fn insert(&mut self, tool: &str, display: impl Into<String>) -> Option<String> {
        self.names.insert(normalised(tool), display.into())
    }

    /// Returns the display name of a tool, or the name itself if the table has none.
    pub fn display<'a>(&'a self, tool: &'a str) -> &'a str {
        self.names.get(&normalised(tool)).map_or(tool, String::as_str)
    }

    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns whether the table has no names.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

impl<T: AsRef<str>, D: Into<String>> FromIterator<(T, D)> for ToolNames {
    fn from_iter<I: IntoIterator<Item = (T, D)>>(names: I) -> Self {
        let mut table = Self::new();
        for (tool, display) in names {
            table.insert(tool.as_ref(), display);
        }
        table
    }
}

/// Returns the form in which names are compared: lower case, and one separator.
fn normalised(name: &str) -> String {
    let one = |c: char| match c {
        '_' | '-' | '/' | ':' => '.',
        other => other.to_ascii_lowercase(),
    };
    name.trim().chars().map(one).collect()
}
