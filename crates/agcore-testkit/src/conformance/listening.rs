//! [`Listening`]: a reply heard item by item, with the rules that hold for every reply.

use agcore_chat::ChatResponse;
use agcore_llm::{
    LlmError,
    delta::ReplyDelta,
    fold::Fold,
    reply::{ReplyItem, ReplyStream},
};
use futures_util::StreamExt;

use super::halt::{Halt, ensure};

/// No scenario needs nearly as many items; a provider that gives more never ends.
const MOST_ITEMS: usize = 100_000;

/// A reply on its way. Exactly one end, and nothing after it, is a rule for every reply.
pub(super) struct Listening {
    items: ReplyStream,
    fold: Fold,
    count: usize,
}

/// What a reply came to: the whole of it, or the error with what had arrived before.
pub(super) struct Heard(Result<ChatResponse, LlmError>);

impl Listening {
    pub(super) fn new(items: ReplyStream) -> Self {
        Self {
            items,
            fold: Fold::new(),
            count: 0,
        }
    }

    /// Listens until the first piece of text is there.
    pub(super) async fn first_text(&mut self) -> Result<(), Halt> {
        loop {
            match self.next().await? {
                ReplyItem::End(end) => return Err(Halt::Fail(format!("no text before the end: {end:?}"))),
                item => {
                    let is_text = matches!(item, ReplyItem::Delta(ReplyDelta::Text { .. }));
                    self.fold.absorb(item);
                    if is_text {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Listens to the end and beyond.
    pub(super) async fn rest(mut self) -> Result<Heard, Halt> {
        loop {
            let item = self.next().await?;
            if let Some(end) = self.fold.absorb(item) {
                return match self.items.next().await {
                    None => Ok(Heard(end)),
                    Some(more) => Err(Halt::Fail(format!("{more:?} follows the end"))),
                };
            }
        }
    }

    async fn next(&mut self) -> Result<ReplyItem, Halt> {
        self.count += 1;
        ensure(self.count <= MOST_ITEMS, || format!("{MOST_ITEMS} items and no end"))?;
        let item = self.items.next().await;
        item.ok_or_else(|| Halt::fail("the stream stopped without an end"))
    }
}

impl Heard {
    /// The whole reply.
    pub(super) fn answer(self) -> Result<ChatResponse, Halt> {
        self.0
            .map_err(|error| Halt::Fail(format!("an error instead of the answer: {}", error.chain())))
    }

    /// The error.
    pub(super) fn error(self) -> Result<LlmError, Halt> {
        match self.0 {
            Err(error) => Ok(error),
            Ok(response) => Err(Halt::Fail(format!(
                "an answer instead of the error: {:?}, finish {:?}",
                response.text(),
                response.finish_reason()
            ))),
        }
    }
}
