//! [`Problems`]: all that is wrong with one tool, so that its author hears of it at once.

use std::fmt::Display;

use quote::ToTokens;
use syn::{Error, Result};

/// What is wrong so far.
#[derive(Default)]
pub(crate) struct Problems(Option<Error>);

impl Problems {
    /// Something is wrong with these tokens.
    pub(crate) fn add(&mut self, place: impl ToTokens, message: impl Display) {
        self.add_error(Error::new_spanned(place, message));
    }

    /// What was read, or else a problem more.
    pub(crate) fn take<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.add_error(error)).ok()
    }

    /// # Errors
    /// All of them, if there are any.
    pub(crate) fn finish(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }

    fn add_error(&mut self, error: Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }
}
