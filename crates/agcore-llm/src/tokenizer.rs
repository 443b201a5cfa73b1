//! [`ExactEstimator`]: tokens of texts as the vocabulary itself counts them.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore_chat::{HeuristicEstimator, TokenEstimator, TokenizerFamily};
//! use agcore_llm::{CycleSettings, ExactEstimator};
//!
//! let exact = ExactEstimator::new(TokenizerFamily::O200k)?;
//! let guess = HeuristicEstimator::new(TokenizerFamily::O200k);
//! assert_eq!((exact.text("tokenization"), guess.text("tokenization")), (2, 2));
//!
//! // Compaction and budgets go by it.
//! let settings = CycleSettings::new().with_estimator(Arc::new(exact));
//! # let _ = settings;
//! # Ok::<(), agcore_llm::tokenizer::NoVocabulary>(())
//! ```
//!
//! Worth its weight where every token counts, as with requests close to the window. Elsewhere the [heuristic], which needs
//! no vocabulary, is within 15 %. What a vendor puts around texts, such as roles, the form of tools and pictures, is
//! published by nobody and stays an estimate with either.
//!
//! [heuristic]: agcore_chat::tokens::HeuristicEstimator

use std::fmt;

use agcore_chat::{TokenEstimator, TokenizerFamily};
use thiserror::Error;
use tiktoken::CoreBpe;

/// Counts the tokens of texts by the vocabulary of their family. Text that looks like a special token counts as text.
///
/// Takes time in proportion to the text. Vocabularies are built in and shared by all estimators of a family; nothing is
/// downloaded.
#[derive(Clone, Copy)]
pub struct ExactEstimator {
    family: TokenizerFamily,
    vocabulary: &'static CoreBpe,
}

impl ExactEstimator {
    /// The families whose vocabulary is built in. Others are not free to be handed on, or not published.
    pub const FAMILIES: &'static [TokenizerFamily] =
        &[TokenizerFamily::O200k, TokenizerFamily::Cl100k, TokenizerFamily::Qwen];

    /// An estimator of a family. The first of each family unpacks the vocabulary, which takes some 10 to 100 milliseconds
    /// and keeps a few megabytes until the program ends: make it when the program starts.
    ///
    /// # Errors
    /// [`NoVocabulary`] for a family that is not one of [`FAMILIES`](Self::FAMILIES).
    pub fn new(family: TokenizerFamily) -> Result<Self, NoVocabulary> {
        let vocabulary = name(family).and_then(tiktoken::get_encoding);
        let vocabulary = vocabulary.ok_or(NoVocabulary { family })?;
        Ok(Self { family, vocabulary })
    }

    /// Whose tokens are counted.
    pub fn family(&self) -> TokenizerFamily {
        self.family
    }
}

/// The vocabulary's name in tiktoken.
fn name(family: TokenizerFamily) -> Option<&'static str> {
    match family {
        TokenizerFamily::O200k => Some("o200k_base"),
        TokenizerFamily::Cl100k => Some("cl100k_base"),
        // Qwen 1 to 3 differ in special tokens alone.
        TokenizerFamily::Qwen => Some("qwen2"),
        _ => None,
    }
}

impl TokenEstimator for ExactEstimator {
    fn text(&self, text: &str) -> u64 {
        u64::try_from(self.vocabulary.count(text)).unwrap_or(u64::MAX)
    }
}

impl fmt::Debug for ExactEstimator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExactEstimator")
            .field("family", &self.family)
            .finish_non_exhaustive()
    }
}

/// There is no vocabulary of this family in the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "no vocabulary of the family {family:?} is built in: estimate with HeuristicEstimator, which knows every family"
)]
#[non_exhaustive]
pub struct NoVocabulary {
    /// Whose vocabulary it would be.
    pub family: TokenizerFamily,
}
