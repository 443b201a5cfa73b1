//! Conversions of other errors into a [`ToolError`], so that `?` works in a tool.

use std::error::Error;

use agcore_chat::text::clip;

use super::ToolError;

/// The longest text that is taken over from another error, in bytes.
const TEXT_BYTES: usize = 1024;

impl ToolError {
    /// Converts the error of a tool into an [`ExecutionFailed`](crate::ToolErrorKind::ExecutionFailed) error whose text
    /// the model sees. The text is that of the error itself, without its causes, on one line and of at most 1 KiB.
    ///
    /// This is what `?` does. A [`ToolError`] in a box is returned as it is. Of a [`std::io::Error`], the model sees
    /// only the kind, because the text may contain paths. Use [`other`](Self::other) to hide the text from the model.
    ///
    /// ```
    /// use agcore_tools::{NoArguments, ToolError, typed};
    ///
    /// #[derive(Debug)]
    /// struct OutOfStock;
    ///
    /// impl std::fmt::Display for OutOfStock {
    ///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    ///         f.write_str("there are no apples left")
    ///     }
    /// }
    ///
    /// impl std::error::Error for OutOfStock {}
    ///
    /// fn take_apple() -> Result<u32, OutOfStock> {
    ///     Err(OutOfStock)
    /// }
    ///
    /// let error = ToolError::from_error(take_apple().unwrap_err());
    /// assert_eq!(error.model_text(), "there are no apples left");
    ///
    /// // Errors of the standard library, and errors in a box, need no call.
    /// let tool = typed("apples", "Takes an apple.", |_: NoArguments| async {
    ///     let more: u32 = "3".parse()?;
    ///     Ok(more + take_apple().map_err(ToolError::from_error)?)
    /// });
    /// # let _ = tool;
    /// ```
    pub fn from_error(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let error = match error.into().downcast::<Self>() {
            Ok(error) => return *error,
            Err(error) => error,
        };
        match error.downcast::<std::io::Error>() {
            Ok(error) => Self::failed(format!("an I/O operation failed: {}", error.kind())).with_source(error),
            Err(error) => Self::failed(one_line(&error.to_string())).with_source(error),
        }
    }
}

/// The errors that a function with the attribute `#[tool]` may return.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return the error `{Self}`",
    label = "this does not convert into `Box<dyn Error + Send + Sync>`",
    note = "implement `std::error::Error` for it, or return `ToolError`, `String` or `Box<dyn Error + Send + Sync>`"
)]
pub trait IntoToolError {
    /// Converts the error.
    fn into_tool_error(self) -> ToolError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<Box<dyn Error + Send + Sync>>> IntoToolError for E {
    fn into_tool_error(self) -> ToolError {
        ToolError::from_error(self)
    }
}

/// Returns the text on one line, shortened, and without characters that change the direction of the displayed text.
fn one_line(text: &str) -> String {
    let visible =
        |c: char| !matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let text: String = clip(text, TEXT_BYTES).chars().filter(|c| visible(*c)).collect();
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

macro_rules! from_error {
    ($($error:ty),* $(,)?) => {$(
        /// Converts as [`ToolError::from_error`] does.
        impl From<$error> for ToolError {
            fn from(error: $error) -> Self {
                Self::from_error(error)
            }
        }
    )*};
}
from_error!(
    Box<dyn Error + Send + Sync>,
    serde_json::Error,
    std::array::TryFromSliceError,
    std::char::ParseCharError,
    std::fmt::Error,
    std::io::Error,
    std::net::AddrParseError,
    std::num::ParseFloatError,
    std::num::ParseIntError,
    std::num::TryFromIntError,
    std::str::ParseBoolError,
    std::str::Utf8Error,
    std::string::FromUtf8Error,
    std::time::SystemTimeError,
    tokio::task::JoinError,
);

/// Creates an [`ExecutionFailed`](crate::ToolErrorKind::ExecutionFailed) error whose text the model sees.
impl From<String> for ToolError {
    fn from(message: String) -> Self {
        Self::failed(message)
    }
}

/// Creates an [`ExecutionFailed`](crate::ToolErrorKind::ExecutionFailed) error whose text the model sees.
impl From<&str> for ToolError {
    fn from(message: &str) -> Self {
        Self::failed(message)
    }
}
