//! [`ExactEstimator`]: exact token counts from the vocabulary of a model family.

use std::fmt;

use agcore_chat::{TokenEstimator, TokenizerFamily};
use thiserror::Error;
use tiktoken::CoreBpe;

/// Counts the tokens of text with the vocabulary of a tokenizer family.
///
/// Use it where every token counts, for example close to the end of the context window. Otherwise
/// [`HeuristicEstimator`](agcore_chat::HeuristicEstimator), which needs no vocabulary, is within 15 %. Vendors do not
/// publish what they add around the text (roles, the format of tools, images), so that remains an estimate with either.
///
/// The time is proportional to the length of the text. Text that looks like a special token counts as text. Vocabularies
/// are built in, and shared by all estimators of a family; nothing is downloaded.
///
/// ```
/// use agcore_chat::{HeuristicEstimator, TokenEstimator, TokenizerFamily};
/// use agcore_llm::ExactEstimator;
///
/// let exact = ExactEstimator::new(TokenizerFamily::O200k)?;
/// let heuristic = HeuristicEstimator::new(TokenizerFamily::O200k);
/// assert_eq!((exact.text("tokenization"), heuristic.text("tokenization")), (2, 2));
/// # Ok::<(), agcore_llm::NoVocabulary>(())
/// ```
#[derive(Clone, Copy)]
pub struct ExactEstimator {
    family: TokenizerFamily,
    vocabulary: &'static CoreBpe,
}

impl ExactEstimator {
    /// The families whose vocabulary is built in. The others may not be redistributed, or are not published.
    pub const FAMILIES: &'static [TokenizerFamily] =
        &[TokenizerFamily::O200k, TokenizerFamily::Cl100k, TokenizerFamily::Qwen];

    /// Creates an estimator for a family.
    ///
    /// The first estimator of a family unpacks the vocabulary, which takes about 10 to 100 milliseconds and keeps a few
    /// megabytes until the program ends. Create it when the program starts.
    ///
    /// # Errors
    /// Returns [`NoVocabulary`] for a family that is not one of [`FAMILIES`](Self::FAMILIES).
    pub fn new(family: TokenizerFamily) -> Result<Self, NoVocabulary> {
        let vocabulary = encoding(family).and_then(tiktoken::get_encoding);
        let vocabulary = vocabulary.ok_or(NoVocabulary { family })?;
        Ok(Self { family, vocabulary })
    }

    /// Returns the family whose tokens are counted.
    pub fn family(&self) -> TokenizerFamily {
        self.family
    }
}

/// Returns the name of the vocabulary in tiktoken.
fn encoding(family: TokenizerFamily) -> Option<&'static str> {
    match family {
        TokenizerFamily::O200k => Some("o200k_base"),
        TokenizerFamily::Cl100k => Some("cl100k_base"),
        // Qwen 1 to 3 differ only in their special tokens.
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

/// The error for a tokenizer family whose vocabulary is not built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the vocabulary of the family {family:?} is not built in: use HeuristicEstimator, which supports every family")]
#[non_exhaustive]
pub struct NoVocabulary {
    /// The family.
    pub family: TokenizerFamily,
}
