//! [`Returned`]: what a function with the attribute `#[tool]` returns: a `Result`, or a value.

use crate::error::ToolError;

/// The return value of a function.
///
/// `into_result` is the method of this type if it is a `Result`, by whatever alias, and otherwise that of [`Plain`]: the compiler
/// prefers methods of the type itself. The attribute sees only the name of the type.
#[derive(Debug)]
pub struct Returned<T>(pub T);

impl<T, E> Returned<Result<T, E>> {
    /// Returns the result.
    ///
    /// # Errors
    /// The error of the function.
    pub fn into_result(self) -> Result<T, E> {
        self.0
    }
}

/// A value instead of a `Result`: the function cannot fail.
pub trait Plain: Sized {
    /// The value.
    type Value;

    /// Returns the value.
    ///
    /// # Errors
    /// None.
    fn into_result(self) -> Result<Self::Value, ToolError>;
}

impl<T> Plain for Returned<T> {
    type Value = T;

    fn into_result(self) -> Result<T, ToolError> {
        Ok(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Answer = Result<u8, String>;

    #[test]
    fn results_are_recognized_by_any_name() {
        let answer: Answer = Err("no".to_owned());
        assert_eq!(Returned(answer).into_result(), Err("no".to_owned()));
        assert_eq!(Returned(7).into_result().unwrap(), 7);
    }
}
