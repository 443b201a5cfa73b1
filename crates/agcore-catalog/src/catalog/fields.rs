//! [`Fields`]: reads the members of a table and collects everything that is wrong.

use std::cell::RefCell;

use agcore_chat::text::nearest;
use agcore_document::{Member, Node, Place, Value};

use super::error::CatalogProblem;
use crate::problem::Problem;

/// The problems that were found so far.
#[derive(Debug, Default)]
pub(super) struct Problems(RefCell<Vec<CatalogProblem>>);

impl Problems {
    pub(super) fn add(&self, place: Place, problem: Problem) {
        self.0.borrow_mut().push(CatalogProblem { place, problem });
    }

    pub(super) fn into_inner(self) -> Vec<CatalogProblem> {
        self.0.into_inner()
    }
}

/// The members of a table.
pub(super) struct Fields<'n> {
    path: String,
    pub(super) place: Place,
    members: &'n [Member],
    problems: &'n Problems,
}

impl<'n> Fields<'n> {
    /// Returns the members of a table. A member with another name than these is a problem.
    pub(super) fn of(node: &'n Node, path: impl Into<String>, known: &[&str], problems: &'n Problems) -> Self {
        let path = path.into();
        let members: &[Member] = match &node.value {
            Value::Table(members) => members,
            _ => {
                problems.add(
                    node.place,
                    Problem::shown(path.as_str(), node.shown(), "a table is expected"),
                );
                &[]
            }
        };
        let fields = Self {
            path,
            place: node.place,
            members,
            problems,
        };
        for member in members.iter().filter(|member| !known.contains(&member.name.as_str())) {
            let rule = match nearest(&member.name, known.iter().copied()) {
                Some(name) => format!("there is no such member; did you mean {name}?"),
                None => format!("there is no such member; the members are {}", known.join(", ")),
            };
            problems.add(
                member.place,
                Problem::shown(fields.path_of(&member.name), member.node.shown(), rule),
            );
        }
        fields
    }

    pub(super) fn path_of(&self, name: &str) -> String {
        let name: String = name.chars().take(64).flat_map(char::escape_debug).collect();
        if self.path.is_empty() {
            name
        } else {
            format!("{}.{name}", self.path)
        }
    }

    /// Returns the node of a member that is there and not null.
    pub(super) fn get(&self, name: &str) -> Option<&'n Node> {
        let member = self.members.iter().find(|member| member.name == name)?;
        (member.node.value != Value::Null).then_some(&member.node)
    }

    pub(super) fn wrong(&self, name: &str, node: &Node, rule: impl Into<String>) {
        self.problems
            .add(node.place, Problem::shown(self.path_of(name), node.shown(), rule));
    }

    fn missing(&self, name: &str) {
        self.problems.add(
            self.place,
            Problem::shown(self.path_of(name), "nothing", "it is required"),
        );
    }

    pub(super) fn text(&self, name: &str) -> Option<&'n str> {
        let node = self.get(name)?;
        match &node.value {
            Value::Text(text) if !text.trim().is_empty() => return Some(text),
            Value::Text(_) => self.wrong(name, node, "a text that is not empty is expected"),
            _ => self.wrong(name, node, "a text is expected; quote it"),
        }
        None
    }

    pub(super) fn required_text(&self, name: &str) -> String {
        if self.get(name).is_none() {
            self.missing(name);
        }
        self.text(name).unwrap_or_default().to_owned()
    }

    pub(super) fn bool(&self, name: &str) -> bool {
        let Some(node) = self.get(name) else { return false };
        if let Value::Bool(value) = node.value {
            return value;
        }
        self.wrong(name, node, "true or false is expected");
        false
    }

    /// Returns a whole number of at least `least`.
    pub(super) fn number(&self, name: &str, least: u64) -> Option<u64> {
        let node = self.get(name)?;
        let number = match &node.value {
            Value::Number(text) => text.parse().ok().filter(|number| *number >= least),
            _ => None,
        };
        if number.is_none() {
            self.wrong(name, node, format!("a whole number of at least {least} is expected"));
        }
        number
    }

    /// Returns the text of a decimal number, which may be quoted, and its place.
    pub(super) fn decimal(&self, name: &str) -> Option<(&'n str, Place)> {
        let node = self.get(name)?;
        match &node.value {
            Value::Number(text) | Value::Text(text) => Some((text, node.place)),
            _ => {
                self.wrong(name, node, "a decimal number is expected");
                None
            }
        }
    }

    pub(super) fn list(&self, name: &str) -> &'n [Node] {
        let Some(node) = self.get(name) else { return &[] };
        match &node.value {
            Value::List(items) => items,
            _ => {
                self.wrong(name, node, "a list is expected");
                &[]
            }
        }
    }

    pub(super) fn texts(&self, name: &str) -> Vec<(String, Place)> {
        let mut texts = Vec::new();
        for (index, node) in self.list(name).iter().enumerate() {
            match &node.value {
                Value::Text(text) if !text.trim().is_empty() => texts.push((text.clone(), node.place)),
                _ => self.wrong(
                    &format!("{name}[{index}]"),
                    node,
                    "a text that is not empty is expected",
                ),
            }
        }
        texts
    }

    pub(super) fn members(&self) -> &'n [Member] {
        self.members
    }

    /// Returns the value of a result, or records its problem.
    pub(super) fn ok<T>(&self, place: Place, result: Result<T, Problem>) -> Option<T> {
        result.map_err(|problem| self.problems.add(place, problem)).ok()
    }
}
