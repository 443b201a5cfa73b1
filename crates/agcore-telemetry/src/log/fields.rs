//! [`Fields`]: the fields of a span or an event, as text.

use std::fmt;

use tracing::field::{Field, Visit};

/// Fields in the order in which they were recorded. A field that is recorded again is replaced.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<(&'static str, String)>);

impl Fields {
    /// Returns the value of a field.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns all fields.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }

    fn set(&mut self, name: &'static str, value: String) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => self.0.push((name, value)),
        }
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field.name(), format!("{value:?}"));
    }
}

#[cfg(test)]
impl<const N: usize> From<[(&'static str, &str); N]> for Fields {
    fn from(fields: [(&'static str, &str); N]) -> Self {
        Self(fields.map(|(name, value)| (name, value.to_owned())).into())
    }
}
