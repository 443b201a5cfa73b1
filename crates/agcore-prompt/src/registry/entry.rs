//! [`Entry`]: a registered template, perhaps not yet compiled.

use std::sync::{Arc, LazyLock};

use crate::{error::PromptError, template::Compiled};

type Outcome = Result<Arc<Compiled>, PromptError>;

/// A registered template, perhaps not yet compiled.
pub(super) struct Entry(LazyLock<Outcome, Box<dyn FnOnce() -> Outcome + Send>>);

impl Entry {
    pub(super) fn ready(compiled: Compiled) -> Self {
        Self(LazyLock::new(Box::new(|| Ok(Arc::new(compiled)))))
    }

    pub(super) fn lazy(name: &str, source: String) -> Self {
        let name = name.to_owned();
        Self(LazyLock::new(Box::new(move || {
            Compiled::new(Some(&name), source).map(Arc::new)
        })))
    }

    /// The template; compiled at the first call.
    pub(super) fn compiled(&self) -> Result<&Arc<Compiled>, PromptError> {
        self.0.as_ref().map_err(PromptError::clone)
    }
}
