//! [`RenderOptions`]: options for rendering templates.

/// Options for rendering templates. A partial is rendered with the options of the template that includes it.
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
    /// Whether a missing variable prints nothing, and loops zero times, instead of being an error. Off by default.
    pub lenient: bool,
    /// The maximum size of the output in bytes, 16 MiB by default. Exceeding it is an error.
    pub max_output_bytes: usize,
}

impl RenderOptions {
    /// Creates the default options: strict, with at most 16 MiB of output.
    pub const fn new() -> Self {
        Self {
            lenient: false,
            max_output_bytes: 16 << 20,
        }
    }

    /// Sets whether a missing variable prints nothing, and loops zero times, instead of being an error.
    #[must_use]
    pub const fn with_lenient(mut self, lenient: bool) -> Self {
        self.lenient = lenient;
        self
    }

    /// Sets the maximum size of the output in bytes.
    ///
    /// ```
    /// use agcore_prompt::{PromptErrorKind, PromptTemplate, RenderOptions, Value};
    ///
    /// let template = PromptTemplate::compile("Hello!")?.with_options(RenderOptions::new().with_max_output_bytes(5));
    /// let error = template.render(&Value::Null).unwrap_err();
    /// assert_eq!(error.kind(), &PromptErrorKind::Size { limit: 5 });
    /// # Ok::<(), agcore_prompt::PromptError>(())
    /// ```
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
