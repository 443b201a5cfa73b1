//! [`Entry`]: a registered template that may not be compiled yet.

use std::sync::{Arc, LazyLock};

use crate::{error::PromptError, template::Compiled};

type CompileResult = Result<Arc<Compiled>, PromptError>;

/// A registered template that may not be compiled yet.
pub(super) struct Entry(LazyLock<CompileResult, Box<dyn FnOnce() -> CompileResult + Send>>);

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

    /// Returns the template, compiling it on the first call.
    pub(super) fn compiled(&self) -> Result<&Arc<Compiled>, PromptError> {
        self.0.as_ref().map_err(PromptError::clone)
    }
}
