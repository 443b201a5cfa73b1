//! A minimal wire: the body is text, and each of its words is a delta. `END` ends the reply immediately. A reply that
//! ends with `LAST` is complete when the connection ends. An error status is an error that quotes the body.

use agcore_chat::ChatRequest;
use agcore_chat::Text;
use agcore_llm::{
    LlmError, LlmErrorKind, ReplyDelta,
    wire::{Chat, Close, Decoder, EncodeOptions, ReplyHead, Wire, WireRequest},
};

#[derive(Debug)]
pub(crate) struct LineWire;

impl Wire<Chat> for LineWire {
    fn encode(&self, request: &ChatRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        let model = if request.model.is_empty() {
            options.model
        } else {
            &request.model
        };
        Ok(WireRequest::post("/lines", format!("{model} {}", options.stream)))
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<Chat>> {
        Box::new(LineDecoder {
            ok: head.status.is_success(),
            text: String::new(),
        })
    }
}

struct LineDecoder {
    ok: bool,
    text: String,
}

impl Decoder<Chat> for LineDecoder {
    fn feed(&mut self, bytes: &[u8], items: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        let text = String::from_utf8_lossy(bytes);
        self.text.push_str(&text);
        if !self.ok {
            return Ok(());
        }
        items.extend(text.split_inclusive(' ').map(|text| ReplyDelta::Text {
            choice: 0,
            text: Text::from(text),
        }));
        if self.text.contains("FAIL") {
            return Err(LlmError::new(LlmErrorKind::Server, "the server reports FAIL"));
        }
        Ok(())
    }

    fn finish(&mut self, close: Close, _: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        if !self.ok {
            let error = LlmError::new(LlmErrorKind::Authentication, format!("refused: {}", self.text));
            return Err(error.with_body(&self.text));
        }
        match close {
            _ if self.is_done() || self.text.ends_with("LAST") => Ok(()),
            Close::Clean => Err(LlmError::new(LlmErrorKind::Truncated, "no END")),
            Close::Reset => Err(LlmError::new(LlmErrorKind::Connect, "reset before END")),
        }
    }

    fn is_done(&self) -> bool {
        self.text.ends_with("END")
    }
}
