//! [`RenderOptions`]: how templates are rendered.

/// How templates are rendered. Partials are rendered with the options of the template that asks for them.
///
/// ```
/// use agcore_prompt::{PromptTemplate, RenderOptions, Value};
///
/// let template = PromptTemplate::compile("Hello {{name}}!")?;
/// assert!(template.render(&Value::Null).is_err());
///
/// let lenient = template.with_options(RenderOptions::new().with_lenient(true));
/// assert_eq!(lenient.render(&Value::Null)?, "Hello !");
/// # Ok::<(), agcore_prompt::PromptError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenderOptions {
    /// Whether a missing variable prints nothing and is an empty list, instead of being an error. Off by default.
    pub lenient: bool,
    /// The largest output in bytes; 16 MiB by default. The output that would pass it is an error.
    pub max_output_bytes: usize,
}

impl RenderOptions {
    /// The defaults: strict, at most 16 MiB of output.
    pub const fn new() -> Self {
        Self {
            lenient: false,
            max_output_bytes: 16 << 20,
        }
    }

    /// Whether a missing variable prints nothing and is an empty list, instead of being an error.
    #[must_use]
    pub const fn with_lenient(mut self, lenient: bool) -> Self {
        self.lenient = lenient;
        self
    }

    /// The largest output in bytes.
    #[must_use]
    pub const fn with_max_output_bytes(mut self, bytes: usize) -> Self {
        self.max_output_bytes = bytes;
        self
    }
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self::new()
    }
}
