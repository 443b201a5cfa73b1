//! [`PromptTemplate`]: a compiled template.

mod depth;
mod options;
mod fault;
mod lexer;
mod space;
mod path;
mod node;
mod frame;
mod parse;
mod compiled;
mod scope;
mod output;
mod render;
mod variables;

pub(crate) use compiled::{Compiled, Partials};
pub use options::RenderOptions;
pub(crate) use path::is_template_name;

use std::{fmt, str::FromStr, sync::Arc};

use serde::Serialize;

use crate::{
    error::PromptError,
    value::{Data, Value, snapshot},
};
use scope::Scope;

/// A compiled template; the language is described at the [crate].
///
/// Cheap to clone, and shared between threads without a lock. [`Display`](fmt::Display) gives the source.
///
/// ```
/// use agcore_prompt::{Object, PromptTemplate};
///
/// let template = PromptTemplate::compile("{{#each users}}{{name}}{{#unless @last}}, {{/unless}}{{/each}}")?;
/// let users = ["Ada", "Lin"].map(|name| Object::new().with("name", name));
/// assert_eq!(template.render(&Object::new().with("users", users).into())?, "Ada, Lin");
/// # Ok::<(), agcore_prompt::PromptError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PromptTemplate {
    compiled: Arc<Compiled>,
    partials: Option<Arc<dyn Partials>>,
    options: RenderOptions,
}

impl PromptTemplate {
    /// Compiles a template.
    ///
    /// Partials are found only by templates of a [`PromptTemplateRegistry`](crate::PromptTemplateRegistry).
    ///
    /// # Errors
    /// When the source is not a template, or its blocks are nested more than 16 levels deep; with line, column,
    /// excerpt and what was expected.
    pub fn compile(source: impl Into<String>) -> Result<Self, PromptError> {
        let compiled = Compiled::new(None, source.into())?;
        Ok(Self {
            compiled: Arc::new(compiled),
            partials: None,
            options: RenderOptions::new(),
        })
    }

    /// The template with other options.
    #[must_use]
    pub fn with_options(mut self, options: RenderOptions) -> Self {
        self.options = options;
        self
    }

    /// How the template is rendered.
    pub fn options(&self) -> RenderOptions {
        self.options
    }

    /// The name under which the template was registered.
    pub fn name(&self) -> Option<&str> {
        self.compiled.name()
    }

    /// Renders the template.
    ///
    /// # Errors
    /// When a variable has no value (unless the options are lenient), `each` is given something else than an array,
    /// an object or null, a partial is not registered or does not compile, blocks and partials are nested too deeply
    /// or the output is too large.
    pub fn render(&self, context: &Value) -> Result<String, PromptError> {
        self.render_string(&Scope::root(context))
    }

    /// Renders the template with anything serializable, such as a struct.
    ///
    /// The value is read anew each time; to render one context many times, build a [`Value`] of it.
    ///
    /// # Errors
    /// Those of [`render`](Self::render), and when the value cannot be serialized (see [`Value::from_serialize`]).
    pub fn render_from<T: Serialize + ?Sized>(&self, context: &T) -> Result<String, PromptError> {
        let taken = snapshot(context)?;
        self.render_string(&Scope::root(taken.root()))
    }

    /// Renders the template into a writer.
    ///
    /// # Errors
    /// Those of [`render`](Self::render), and when the writer refuses the text. What was written before the error
    /// stays written.
    pub fn render_to<W: fmt::Write + ?Sized>(&self, writer: &mut W, context: &Value) -> Result<(), PromptError> {
        render::render(
            &self.compiled,
            self.partials.as_deref(),
            self.options,
            &Scope::root(context),
            writer,
        )
    }

    /// The variables that the template needs, in the order of their first use.
    ///
    /// What is used of a loop's elements stands behind the list's name and `[]`; at render such a name may also come
    /// from outside the loop. Variables of partials are not among them, see [`partials`](Self::partials).
    ///
    /// ```
    /// # use agcore_prompt::PromptTemplate;
    /// let template = PromptTemplate::compile("{{a.b}}{{#each xs}}{{name}}{{item}}{{@index}}{{/each}}{{a.b}}")?;
    /// assert_eq!(template.variables(), ["a.b", "xs", "xs[].name"]);
    /// # Ok::<(), agcore_prompt::PromptError>(())
    /// ```
    pub fn variables(&self) -> Vec<String> {
        variables::variables(&self.compiled)
    }

    /// The names of the partials that the template asks for, in the order of their first use.
    pub fn partials(&self) -> Vec<String> {
        variables::partials(&self.compiled)
    }

    /// A template that finds its partials there.
    pub(crate) fn bound(compiled: Arc<Compiled>, partials: Arc<dyn Partials>, options: RenderOptions) -> Self {
        Self {
            compiled,
            partials: Some(partials),
            options,
        }
    }

    /// What the template is compiled to.
    pub(crate) fn compiled(&self) -> &Arc<Compiled> {
        &self.compiled
    }

    fn render_string<'v, D: Data<'v>>(&self, scope: &Scope<'_, 'v, D>) -> Result<String, PromptError> {
        let mut out = String::with_capacity(self.compiled.room());
        render::render(&self.compiled, self.partials.as_deref(), self.options, scope, &mut out)?;
        Ok(out)
    }
}

/// The source.
impl fmt::Display for PromptTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.compiled.source())
    }
}

impl FromStr for PromptTemplate {
    type Err = PromptError;

    fn from_str(source: &str) -> Result<Self, PromptError> {
        Self::compile(source)
    }
}
