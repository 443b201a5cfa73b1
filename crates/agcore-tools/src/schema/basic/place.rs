//! [`Place`]: where in a value a schema is applied. It is written as text only for values that are refused.

use std::fmt;

use agcore_chat::text::clip;

use crate::error::NAME_BYTES;

#[derive(Debug)]
pub(super) enum Place<'a> {
    Root,
    Member(&'a Self, &'a str),
    Item(&'a Self, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("$"),
            Self::Member(object, name) => write!(f, "{object}.{}", clip(name, NAME_BYTES)),
            Self::Item(array, index) => write!(f, "{array}[{index}]"),
        }
    }
}
