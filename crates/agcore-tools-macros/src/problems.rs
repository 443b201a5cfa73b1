//! [`Problems`]: collects all mistakes in one tool, so that they are reported at once.

use std::fmt::Display;

use quote::ToTokens;
use syn::{Error, Result};

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Problems(Option<Error>);

impl Problems {
    /// Adds a mistake at these tokens.
    pub(crate) fn add(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.add_error(Error::new_spanned(tokens, message));
    }

    /// Returns the value, or adds the error.
    pub(crate) fn ok<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.add_error(error)).ok()
    }

    /// Returns all mistakes as one error.
    ///
    /// # Errors
    /// When there are any.
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
