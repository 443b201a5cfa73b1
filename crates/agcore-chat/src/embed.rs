//! [`Embedder`]: texts to vectors.

use async_trait::async_trait;

use crate::{fault::Fault, usage::Usage};

/// Turns texts into vectors.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// One vector for each text, in order, all of one length.
    ///
    /// Cancel safe: dropping the future abandons the call.
    ///
    /// # Errors
    /// When the model cannot be asked or its answer cannot be read.
    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, Fault>;
}

/// Vectors of some texts.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Embeddings {
    /// One for each text, in order.
    pub vectors: Vec<Vec<f32>>,
    /// Tokens used, where known.
    pub usage: Option<Usage>,
}

impl Embeddings {
    /// These vectors.
    pub fn new(vectors: Vec<Vec<f32>>) -> Self {
        Self { vectors, usage: None }
    }

    /// Adds the tokens used.
    pub fn with_usage(mut self, usage: Option<Usage>) -> Self {
        self.usage = usage;
        self
    }
}
