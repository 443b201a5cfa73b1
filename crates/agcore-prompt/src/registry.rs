//! [`PromptTemplateRegistry`]: templates by name, which are each other's partials.

mod entry;
mod files;

use std::{collections::BTreeMap, fmt, path::Path, sync::Arc};

use serde::Serialize;

use crate::{
    error::{PromptError, PromptErrorKind, near_names},
    template::{Compiled, Partials, PromptTemplate, RenderOptions, is_template_name},
    value::Value,
};
use entry::Entry;

/// Templates by name, which are each other's partials.
///
/// A plain value: nothing is global, and no file is watched. Cheap to clone; a clone, and a template taken
/// [out](Self::get) of the registry, keep seeing what was registered then.
///
/// ```
/// use agcore_prompt::{Object, PromptTemplateRegistry};
///
/// let mut prompts = PromptTemplateRegistry::new();
/// prompts.register("rules", "- Answer in {{language}}.\n")?;
/// prompts.register("system", "You are {{name}}.\n  {{> rules}}\n")?;
///
/// let context = Object::new().with("name", "Ada").with("language", "French");
/// assert_eq!(prompts.render("system", &context.into())?, "You are Ada.\n  - Answer in French.\n");
/// # Ok::<(), agcore_prompt::PromptError>(())
/// ```
#[derive(Clone, Default)]
pub struct PromptTemplateRegistry {
    entries: Arc<Entries>,
    options: RenderOptions,
}

#[derive(Clone, Default)]
struct Entries(BTreeMap<Box<str>, Arc<Entry>>);

impl PromptTemplateRegistry {
    /// A registry without templates.
    pub fn new() -> Self {
        Self::default()
    }

    /// The registry with other options, which hold for all its templates.
    #[must_use]
    pub fn with_options(mut self, options: RenderOptions) -> Self {
        self.options = options;
        self
    }

    /// Compiles a template and registers it, in the place of another of the same name.
    ///
    /// # Errors
    /// When the source is not a template, or the name cannot stand in a partial tag.
    pub fn register(&mut self, name: &str, source: impl Into<String>) -> Result<(), PromptError> {
        let compiled = Compiled::new(Some(name), source.into())?;
        self.insert(name, Entry::ready(compiled))
    }

    /// Registers a template that is compiled when it is first used, and then once.
    ///
    /// # Errors
    /// When the name cannot stand in a partial tag. A fault of the source is told at each use.
    pub fn register_lazy(&mut self, name: &str, source: impl Into<String>) -> Result<(), PromptError> {
        self.insert(name, Entry::lazy(name, source.into()))
    }

    /// Reads a file, compiles it and registers it, in the place of another of the same name.
    ///
    /// # Errors
    /// When the file cannot be read as UTF-8, and those of [`register`](Self::register).
    pub fn register_file(&mut self, name: &str, path: impl AsRef<Path>) -> Result<(), PromptError> {
        self.register(name, files::read(path.as_ref())?)
    }

    /// Registers all files of a folder and of the folders in it that have this extension (`"hbs"`), under their paths
    /// in the folder without the extension (`"support/greeting"`). Hidden files and links to folders are passed over.
    ///
    /// Gives back how many there were. After an error nothing has changed.
    ///
    /// # Errors
    /// When the folder or a file cannot be read, and those of [`register`](Self::register).
    pub fn load_folder(&mut self, folder: impl AsRef<Path>, extension: &str) -> Result<usize, PromptError> {
        let mut loaded = self.clone();
        let files = files::list(folder.as_ref(), extension)?;
        for (name, path) in &files {
            loaded.register_file(name, path)?;
        }
        *self = loaded;
        Ok(files.len())
    }

    /// Takes a template out of the registry; tells whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        Arc::make_mut(&mut self.entries).0.remove(name).is_some()
    }

    /// The template of this name, which goes on finding its partials among the templates of now.
    ///
    /// # Errors
    /// When there is none, or it was registered lazily and does not compile.
    pub fn get(&self, name: &str) -> Result<PromptTemplate, PromptError> {
        let Some(entry) = self.entries.0.get(name) else {
            let near = near_names(name, self.names());
            return Err(PromptErrorKind::TemplateNotFound {
                name: name.to_owned(),
                near,
            }
            .into());
        };
        Ok(self.bound(Arc::clone(entry.compiled()?)))
    }

    /// The template, able to find its partials among the templates of now, with the options of the registry.
    pub fn bind(&self, template: &PromptTemplate) -> PromptTemplate {
        self.bound(Arc::clone(template.compiled()))
    }

    /// Renders the template of this name.
    ///
    /// # Errors
    /// Those of [`get`](Self::get) and [`PromptTemplate::render`].
    pub fn render(&self, name: &str, context: &Value) -> Result<String, PromptError> {
        self.get(name)?.render(context)
    }

    /// Renders the template of this name with anything serializable.
    ///
    /// # Errors
    /// Those of [`get`](Self::get) and [`PromptTemplate::render_from`].
    pub fn render_from<T: Serialize + ?Sized>(&self, name: &str, context: &T) -> Result<String, PromptError> {
        self.get(name)?.render_from(context)
    }

    /// Whether there is a template of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.entries.0.contains_key(name)
    }

    /// The names of all templates, sorted.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.entries.0.keys().map(|name| &**name)
    }

    fn insert(&mut self, name: &str, entry: Entry) -> Result<(), PromptError> {
        if !is_template_name(name) {
            return Err(PromptErrorKind::InvalidName { name: name.to_owned() }.into());
        }
        Arc::make_mut(&mut self.entries).0.insert(name.into(), Arc::new(entry));
        Ok(())
    }

    fn bound(&self, compiled: Arc<Compiled>) -> PromptTemplate {
        PromptTemplate::bound(compiled, Arc::clone(&self.entries) as Arc<dyn Partials>, self.options)
    }
}

impl Partials for Entries {
    fn find(&self, name: &str) -> Option<Result<&Compiled, PromptError>> {
        self.0
            .get(name)
            .map(|entry| entry.compiled().map(|compiled| &**compiled))
    }

    fn names(&self) -> Vec<&str> {
        self.0.keys().map(|name| &**name).collect()
    }
}

impl fmt::Debug for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl fmt::Debug for PromptTemplateRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptTemplateRegistry")
            .field("names", &self.entries)
            .field("options", &self.options)
            .finish()
    }
}
