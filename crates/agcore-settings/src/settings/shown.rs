//! [`Shown`]: the value of a setting without secrets.

use super::origin::{Chosen, Origin};

/// A setting with its value, without secrets, and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shown {
    /// The name of the setting.
    pub name: &'static str,
    /// The value, or `None` if it is not set.
    pub value: Option<String>,
    /// The source.
    pub origin: Option<Origin>,
}

impl Shown {
    pub(super) fn new(name: &'static str, value: impl Into<String>, origin: &Origin) -> Self {
        Self {
            name,
            value: Some(value.into()),
            origin: Some(origin.clone()),
        }
    }

    /// A setting that may have no value.
    pub(super) fn option<T>(name: &'static str, chosen: Option<&Chosen<T>>, value: impl FnOnce(&T) -> String) -> Self {
        Self {
            name,
            value: chosen.map(|chosen| value(&chosen.value)),
            origin: chosen.map(|chosen| chosen.origin.clone()),
        }
    }

    /// A setting that is on or off.
    pub(super) fn switch(name: &'static str, chosen: &Chosen<bool>) -> Self {
        Self::new(name, if chosen.value { "on" } else { "off" }, &chosen.origin)
    }
}

/// Returns a number with its noun.
pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
