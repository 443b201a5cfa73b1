//! [`ReplyReader`]: reads a reply and enforces the rules that apply to every reply.

use agcore_chat::ChatResponse;
use agcore_llm::{Fold, LlmError, ReplyDelta, ReplyItem, ReplyStream};

use super::check_error::{CheckError, ensure};

/// The maximum number of items in a reply. No scenario produces nearly as many, so a longer reply is endless.
const MAX_ITEMS: usize = 100_000;

/// A reply in progress. Enforces that it ends exactly once and that nothing follows its end.
pub(super) struct ReplyReader {
    items: ReplyStream,
    fold: Fold,
    count: usize,
}

/// A complete reply: the response, or the error together with the partial response.
pub(super) struct CollectedReply(Result<ChatResponse, LlmError>);

impl ReplyReader {
    pub(super) fn new(items: ReplyStream) -> Self {
        Self {
            items,
            fold: Fold::new(),
            count: 0,
        }
    }

    /// Reads until the first piece of text has arrived.
    pub(super) async fn read_first_text(&mut self) -> Result<(), CheckError> {
        loop {
            match self.next().await? {
                ReplyItem::End(end) => return Err(CheckError::Fail(format!("no text before the end: {end:?}"))),
                item => {
                    let is_text = matches!(item, ReplyItem::Delta(ReplyDelta::Text { .. }));
                    item.fold_into(&mut self.fold);
                    if is_text {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Reads to the end and verifies that nothing follows it.
    pub(super) async fn read_to_end(mut self) -> Result<CollectedReply, CheckError> {
        loop {
            let item = self.next().await?;
            if let Some(end) = item.fold_into(&mut self.fold) {
                return match self.items.next().await {
                    None => Ok(CollectedReply(end)),
                    Some(extra) => Err(CheckError::Fail(format!("the end is followed by {extra:?}"))),
                };
            }
        }
    }

    async fn next(&mut self) -> Result<ReplyItem, CheckError> {
        self.count += 1;
        ensure(self.count <= MAX_ITEMS, || format!("no end after {MAX_ITEMS} items"))?;
        let item = self.items.next().await;
        item.ok_or_else(|| CheckError::fail("the stream stopped without an end"))
    }
}

impl CollectedReply {
    /// Returns the response, or fails if the reply ended with an error.
    pub(super) fn into_response(self) -> Result<ChatResponse, CheckError> {
        self.0
            .map_err(|error| CheckError::Fail(format!("expected an answer, got an error: {}", error.chain())))
    }

    /// Returns the error, or fails if the reply ended with a response.
    pub(super) fn into_error(self) -> Result<LlmError, CheckError> {
        match self.0 {
            Err(error) => Ok(error),
            Ok(response) => Err(CheckError::Fail(format!(
                "expected an error, got an answer: {:?}, finish reason {:?}",
                response.text(),
                response.finish_reason()
            ))),
        }
    }
}
