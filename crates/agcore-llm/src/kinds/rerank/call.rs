//! Requests and scores in the form of chats. The query is the first user message, and each document is a further one.

use agcore_chat::{ChatRequest, ChatResponse, Message};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::carrier;
use crate::{provider::CallOperation, wire_provider::CarriedOperation};
use agcore_wire::{
    LlmError, ReplyDelta,
    operation::{Rerank, RerankItem, RerankRequest},
};

/// The member of the response that contains the scores, each as an array of the index and the score.
const SCORES: &str = "scores";

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    top_n: Option<u32>,
}

/// Returns the chat request that carries a request.
pub(super) fn carry(request: &RerankRequest) -> Result<ChatRequest, LlmError> {
    let texts = [&request.query].into_iter().chain(&request.documents);
    let messages = texts.map(|text| Message::user(text.as_str())).collect();
    let options = Options { top_n: request.top_n };
    let mut carrier = carrier::request(messages, &options, &request.extra_body)?;
    carrier.model.clone_from(&request.model);
    carrier.extra_headers.clone_from(&request.extra_headers);
    Ok(carrier)
}

/// Returns the scores in a response, or a description of the problem.
pub(super) fn scores(response: &ChatResponse) -> Result<Vec<(usize, f64)>, String> {
    let score = |entry: &Value| {
        let index = usize::try_from(entry.get(0)?.as_u64()?).ok()?;
        Some((index, entry.get(1)?.as_f64()?))
    };
    let scores = carrier::entries(response, SCORES).iter().map(score);
    let scores: Option<Vec<_>> = scores.collect();
    scores.ok_or_else(|| "the reply contains something that is not a score".to_owned())
}

impl CarriedOperation for Rerank {
    const CALL: CallOperation = CallOperation::Rerank;

    fn unpack(carrier: &ChatRequest) -> Result<RerankRequest, LlmError> {
        let (options, extra): (Options, _) = carrier::options(carrier, "rerank")?;
        let mut texts = carrier::texts(carrier);
        let mut request = RerankRequest::new(texts.next().unwrap_or_default(), texts);
        request.model.clone_from(&carrier.model);
        request.top_n = options.top_n;
        request.extra_body = extra;
        request.extra_headers.clone_from(&carrier.extra_headers);
        Ok(request)
    }

    fn pack(item: RerankItem) -> ReplyDelta {
        match item {
            RerankItem::Usage(usage) => ReplyDelta::Usage(usage),
            RerankItem::Score { index, score } => carrier::entry(SCORES, json!([index, score])),
        }
    }
}

#[cfg(test)]
mod tests {
    use agcore_wire::{Fold, LlmErrorKind};

    use super::*;

    #[test]
    fn a_call_stands_for_a_request() {
        let request = RerankRequest::new("pets", ["a cat", "a car"])
            .with_model("m")
            .with_top_n(1)
            .with_extra_body("return_documents", false)
            .with_extra_header("x-a", "1");
        assert_eq!(Rerank::unpack(&carry(&request).unwrap()).unwrap(), request);
        let chat = ChatRequest::new([Message::user("Hi")]);
        assert_eq!(Rerank::unpack(&chat).unwrap_err().kind(), LlmErrorKind::InvalidRequest);
    }

    #[test]
    fn scores_survive_exactly() {
        let sent = [(0, 0.1 + 0.2), (1, -1e-300), (1, 5.0)];
        let mut fold = Fold::new();
        for (index, score) in sent {
            fold.push_owned(Rerank::pack(RerankItem::Score { index, score }));
        }
        assert_eq!(scores(&fold.response()).unwrap(), sent);
        let mut fold = Fold::new();
        fold.push_owned(carrier::entry(SCORES, json!("x")));
        assert!(scores(&fold.response()).is_err());
    }
}
