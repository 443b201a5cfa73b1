//! [`Embedder`]: the contract for computing embeddings of texts.

use async_trait::async_trait;

use crate::{cost::usage::Usage, fault::Fault, reply::response::AnsweredBy};

/// Computes embeddings: vectors that represent texts.
///
/// ```
/// use agcore_chat::{Embedder, Embeddings, Fault};
/// use async_trait::async_trait;
///
/// /// Represents each text by its length alone.
/// struct Lengths;
///
/// #[async_trait]
/// impl Embedder for Lengths {
///     async fn embed(&self, texts: &[&str]) -> Result<Embeddings, Fault> {
///         Ok(Embeddings::new(texts.iter().map(|text| vec![text.len() as f32]).collect()))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Fault> {
/// let embeddings = Lengths.embed(&["one", "three"]).await?;
/// assert_eq!(embeddings.vectors, [[3.0], [5.0]]);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Returns one vector per text, in the same order. All vectors have the same length.
    ///
    /// Cancel safe: dropping the future abandons the call.
    ///
    /// # Errors
    /// If the request to the model fails, or its reply is invalid.
    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, Fault>;
}

/// The embeddings of a list of texts.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Embeddings {
    /// One vector per text, in the same order.
    pub vectors: Vec<Vec<f32>>,
    /// The tokens used, if known.
    pub usage: Option<Usage>,
    /// The provider and the model that computed them, if known; what they cost depends on it.
    pub answered_by: Option<AnsweredBy>,
}

impl Embeddings {
    /// Creates embeddings from their vectors, of unknown usage.
    pub fn new(vectors: Vec<Vec<f32>>) -> Self {
        Self {
            vectors,
            usage: None,
            answered_by: None,
        }
    }

    /// Sets the tokens used.
    #[must_use]
    pub fn with_usage(mut self, usage: Option<Usage>) -> Self {
        self.usage = usage;
        self
    }

    /// Sets the provider and the model that computed them.
    #[must_use]
    pub fn with_answered_by(mut self, who: AnsweredBy) -> Self {
        self.answered_by = Some(who);
        self
    }
}
