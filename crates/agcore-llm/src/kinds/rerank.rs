//! [`Reranker`]: the contract for rating the relevance of documents, and [`ModelReranker`], its implementation.

mod call;

use agcore_chat::{AnsweredBy, Usage};
use async_trait::async_trait;

use super::{caller::Caller, handle::handle};
use crate::provider::LlmProvider;
use agcore_wire::{
    LlmError, LlmErrorKind,
    operation::{Rerank, RerankRequest},
};

/// Rates how relevant documents are for a query.
#[async_trait]
pub trait Reranker: Send + Sync {
    /// Returns the documents in the order of their relevance, the most relevant one first.
    ///
    /// Cancel safe: dropping the future abandons the call.
    ///
    /// # Errors
    /// Returns `InvalidRequest` if the query, the documents or one of them are empty, `Malformed` if the reply is invalid, and
    /// any error of the server or the transport.
    async fn rerank(&self, request: RerankRequest) -> Result<Ranking, LlmError>;
}

/// Documents in the order of their relevance.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Ranking {
    /// The documents, the most relevant one first.
    pub documents: Vec<RankedDocument>,
    /// The tokens used, if known.
    pub usage: Option<Usage>,
    /// The model and key that answered, if there are several.
    pub answered_by: Option<AnsweredBy>,
}

/// A document and its relevance.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RankedDocument {
    /// The index of the document in the request.
    pub index: usize,
    /// The relevance: the higher, the more relevant. Its range depends on the model.
    pub score: f64,
}

impl Ranking {
    /// Creates a ranking from indexes and scores in any order. Documents with equal scores keep their order.
    ///
    /// ```
    /// use agcore_llm::Ranking;
    ///
    /// let ranking = Ranking::new([(0, 0.2), (1, 0.9)]);
    /// assert_eq!(ranking.documents[0].index, 1);
    /// ```
    pub fn new(scores: impl IntoIterator<Item = (usize, f64)>) -> Self {
        let documents = scores.into_iter().map(|(index, score)| RankedDocument { index, score });
        let mut documents: Vec<_> = documents.collect();
        documents.sort_by(|one, other| other.score.total_cmp(&one.score));
        Self {
            documents,
            ..Self::default()
        }
    }
}

/// A model on a server that rates the relevance of documents: a wire on a transport, with any layers around it. Cheap to
/// clone.
///
/// ```
/// # #[cfg(all(feature = "_http", feature = "openai-chat"))] {
/// use agcore_llm::{LlmErrorKind, LlmProviderExt, ProviderConfig, Reranker, layer::retry::RetryPolicy, wire::operation::RerankRequest};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let config = ProviderConfig::parse("qwen:gte-rerank-v2")?.with_api_key("sk-example");
/// let reranker = config.build_reranker()?.with_layer(|provider| provider.with_retry(RetryPolicy::new()));
///
/// // Invalid input is refused before anything is sent.
/// let error = reranker.rerank(RerankRequest::new("pets", ["a cat", ""])).await.unwrap_err();
/// assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
/// # Ok::<(), agcore_llm::LlmError>(())
/// # }).unwrap();
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ModelReranker {
    caller: Caller,
}

handle!(ModelReranker, Rerank);

impl ModelReranker {
    /// Creates a reranker that makes the calls of this provider: an [`OperationProvider`](crate::OperationProvider) with layers
    /// around it, or a `ReplayProvider` that answers from a cassette.
    pub fn from_provider(provider: impl LlmProvider + 'static) -> Self {
        Self {
            caller: Caller::new(provider),
        }
    }
}

#[async_trait]
impl Reranker for ModelReranker {
    async fn rerank(&self, request: RerankRequest) -> Result<Ranking, LlmError> {
        check(&request)?;
        let count = request.documents.len();
        let carrier = call::carry(&request)?;
        let response = self.caller.respond(self.caller.call::<Rerank>(carrier)).await?;
        let scores = call::scores(&response).and_then(|scores| {
            check_scores(&scores, count, request.top_n)?;
            Ok(scores)
        });
        let scores = scores.map_err(|problem| self.caller.malformed(problem).with_partial(Some(response.clone())))?;
        Ok(Ranking {
            usage: response.usage,
            answered_by: response.answered_by,
            ..Ranking::new(scores)
        })
    }
}

fn check(request: &RerankRequest) -> Result<(), LlmError> {
    let message = if request.query.is_empty() {
        "the query is empty; state what the documents should be relevant for".to_owned()
    } else if request.documents.is_empty() {
        "there are no documents to rank; pass at least one".to_owned()
    } else if let Some(at) = request.documents.iter().position(String::is_empty) {
        format!("document {at} is empty, and servers refuse to rank empty text; leave it out")
    } else if request.top_n == Some(0) {
        "top_n is 0; ask for at least one document".to_owned()
    } else {
        return Ok(());
    };
    Err(LlmError::new(LlmErrorKind::InvalidRequest, message))
}

/// Checks that each score belongs to a document of its own, and that no document is missing.
fn check_scores(scores: &[(usize, f64)], count: usize, top_n: Option<u32>) -> Result<(), String> {
    let expected = top_n
        .and_then(|top_n| usize::try_from(top_n).ok())
        .unwrap_or(count)
        .min(count);
    let mut seen = vec![false; count];
    for (index, _) in scores {
        match seen.get_mut(*index) {
            Some(seen @ false) => *seen = true,
            Some(true) => return Err(format!("the server returned two scores for document {index}")),
            None => {
                return Err(format!(
                    "the server returned a score for document {index}, but there are {count} documents"
                ));
            }
        }
    }
    // Some servers ignore `top_n`.
    if scores.len() < expected {
        let found = scores.len();
        return Err(format!(
            "the server returned {found} scores, but {expected} were requested"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_scores_that_do_not_fit_the_documents() {
        let check = |scores: &[(usize, f64)], top_n: Option<u32>, expected: &str| {
            let problem = check_scores(scores, 2, top_n).unwrap_err();
            assert!(problem.contains(expected), "{problem}");
        };
        check(&[(0, 1.0), (0, 1.0)], None, "two scores for document 0");
        check(&[(2, 1.0)], None, "document 2, but there are 2");
        check(&[(0, 1.0)], None, "1 scores, but 2");
        check(&[], Some(1), "0 scores, but 1");
        assert_eq!(check_scores(&[(1, 0.5)], 2, Some(1)), Ok(()));
        assert_eq!(
            check_scores(&[(1, 0.5), (0, 0.1)], 2, Some(1)),
            Ok(()),
            "top_n was ignored"
        );
        assert_eq!(check_scores(&[(1, 0.5), (0, 0.1)], 2, Some(9)), Ok(()));
    }

    #[test]
    fn sorts_by_relevance_and_keeps_the_order_of_equals() {
        let ranking = Ranking::new([(0, 0.1), (1, 0.5), (2, 0.5), (3, -1.0)]);
        let order: Vec<usize> = ranking.documents.iter().map(|document| document.index).collect();
        assert_eq!(order, [1, 2, 0, 3]);
    }
}
