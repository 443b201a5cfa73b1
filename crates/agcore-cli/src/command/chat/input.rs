//! One message from standard input or from the arguments.

use crate::{exit::Failure, stdin};

/// Reads all of standard input.
///
/// # Errors
/// When it cannot be read, is no text, or says nothing.
pub(super) async fn read() -> Result<String, Failure> {
    message(stdin::read().await?)
}

/// A message that says something.
///
/// # Errors
/// When it is empty.
pub(super) fn message(text: String) -> Result<String, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::usage(
            "the message is empty: there is nothing to say to the model",
        ));
    }
    Ok(text.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_something() {
        assert_eq!(message(" a\n\n".to_owned()).unwrap(), " a");
        assert!(message(" \n".to_owned()).is_err());
    }
}
