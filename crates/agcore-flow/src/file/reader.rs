//! [`Reader`]: reads values and collects what is wrong.

use super::{
    node::{Member, Node, Place, Value},
    problem::Problems,
};

/// Reads the values of a file.
pub(super) struct Reader<'p> {
    file: String,
    problems: &'p mut Problems,
}

/// The members of a table that have not been read yet.
pub(super) struct Table<'n> {
    place: Place,
    left: Vec<&'n Member>,
    known: Vec<&'static str>,
}

impl<'p> Reader<'p> {
    pub(super) fn new(file: &str, problems: &'p mut Problems) -> Self {
        Self {
            file: file.to_owned(),
            problems,
        }
    }

    pub(super) fn problem(&mut self, place: Place, message: impl Into<String>) {
        self.problems.add(&self.file, place, message);
    }

    pub(super) fn table<'n>(&mut self, node: &'n Node) -> Option<Table<'n>> {
        let Value::Table(members) = &node.value else {
            self.problem(node.place, "a table is expected here");
            return None;
        };
        Some(Table {
            place: node.place,
            left: members.iter().collect(),
            known: Vec::new(),
        })
    }

    /// Takes a member that must exist.
    pub(super) fn required<'n>(&mut self, table: &mut Table<'n>, name: &'static str) -> Option<&'n Node> {
        let found = table.take(name);
        if found.is_none() {
            self.problem(table.place, format!("`{name}` is missing"));
        }
        found
    }

    /// Takes a member that can have one value only.
    pub(super) fn constant(&mut self, table: &mut Table<'_>, name: &'static str, expected: &str) {
        let Some(node) = self.required(table, name) else { return };
        match &node.value {
            Value::Text(text) | Value::Plain(text) if text == expected => {}
            _ => self.problem(
                node.place,
                format!("`{name}` must be `{expected}`, which is all that is supported"),
            ),
        }
    }

    pub(super) fn text(&mut self, node: &Node) -> Option<String> {
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            _ => {
                self.problem(node.place, "a text is expected here; quote it");
                None
            }
        }
    }

    pub(super) fn texts(&mut self, node: &Node) -> Vec<String> {
        let Value::List(items) = &node.value else {
            self.problem(node.place, "a list of texts is expected here");
            return Vec::new();
        };
        items.iter().filter_map(|item| self.text(item)).collect()
    }

    /// Reads one of several names.
    pub(super) fn one_of<T: Copy>(&mut self, node: &Node, known: &[(&'static str, T)]) -> Option<T> {
        let name = match &node.value {
            Value::Text(text) | Value::Plain(text) => text.as_str(),
            _ => "",
        };
        let found = known.iter().find(|(known, _)| *known == name);
        if found.is_none() {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            self.problem(
                node.place,
                format!("one of {} is expected here", super::problem::listed(&names)),
            );
        }
        found.map(|(_, value)| *value)
    }

    pub(super) fn number(&mut self, node: &Node) -> Option<u32> {
        let number = match &node.value {
            Value::Plain(text) => text.parse().ok(),
            _ => None,
        };
        if number.is_none() {
            self.problem(node.place, "a whole number is expected here");
        }
        number
    }

    /// Reports members that are not known.
    pub(super) fn no_more(&mut self, table: Table<'_>) {
        for member in &table.left {
            let known = super::problem::listed(&table.known);
            self.problem(
                member.place,
                format!("`{}` is not known here; use one of {known}", member.name),
            );
        }
    }
}

impl<'n> Table<'n> {
    pub(super) fn take(&mut self, name: &'static str) -> Option<&'n Node> {
        self.known.push(name);
        let at = self.left.iter().position(|member| member.name == name)?;
        Some(&self.left.remove(at).node)
    }

    /// Returns all members that are left.
    pub(super) fn all(self) -> Vec<&'n Member> {
        self.left
    }
}
