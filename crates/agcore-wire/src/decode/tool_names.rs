//! [`NamesDecoder`]: restores the names of tools that a request contains in their portable form.

use agcore_chat::{ChatRequest, Text, tool_name::portable};

use crate::{
    delta::{CallFragment, ReplyDelta},
    encode::tool_names::changed_name,
    error::LlmError,
    wire::{Chat, Close, Decoder},
};

/// Returns a decoder that restores the names of the request's tools. Without tools that are sent under another name, it is
/// the given one.
pub(crate) fn restore(inner: Box<dyn Decoder<Chat>>, request: &ChatRequest) -> Box<dyn Decoder<Chat>> {
    let changed = request.tools.iter().filter_map(changed_name);
    let names: Vec<Name> = changed
        .map(|name| Name {
            sent: portable(name).into_owned(),
            own: name.into(),
        })
        .collect();
    if names.is_empty() {
        return inner;
    }
    Box::new(NamesDecoder {
        inner,
        names,
        held: None,
    })
}

/// The name of a tool, as it was sent and as the application knows it.
struct Name {
    sent: String,
    own: Text,
}

struct NamesDecoder {
    inner: Box<dyn Decoder<Chat>>,
    names: Vec<Name>,
    /// The beginning of a name that may belong to one of the tools, held back until more of the call arrives.
    held: Option<Held>,
}

struct Held {
    choice: u32,
    index: Option<u32>,
    name: String,
}

impl NamesDecoder {
    fn restore(&mut self, items: &mut Vec<ReplyDelta>, begin: usize) {
        let new = items.split_off(begin);
        for delta in new {
            match delta {
                ReplyDelta::Call { choice, mut fragment } => {
                    self.restore_call(choice, &mut fragment, items);
                    items.push(ReplyDelta::Call { choice, fragment });
                }
                other => {
                    self.release(items);
                    items.push(other);
                }
            }
        }
    }

    fn restore_call(&mut self, choice: u32, fragment: &mut CallFragment, items: &mut Vec<ReplyDelta>) {
        let continues = |held: &Held| {
            held.choice == choice && fragment.id.is_none() && (fragment.index.is_none() || fragment.index == held.index)
        };
        let mut name = match self.held.take_if(|held| continues(held)) {
            Some(held) => held.name,
            None => {
                self.release(items);
                String::new()
            }
        };
        match fragment.name.take() {
            Some(piece) => name.push_str(&piece),
            None if name.is_empty() => return,
            None => {}
        }
        let known = self.names.iter().find(|known| known.sent == name);
        if let Some(known) = known {
            fragment.name = Some(known.own.clone());
        } else if fragment.input.is_none() && self.names.iter().any(|known| known.sent.starts_with(&name)) {
            let index = fragment.index;
            self.held = Some(Held { choice, index, name });
        } else {
            fragment.name = Some(name.as_str().into());
        }
    }

    /// Passes on a name that was held back, because the call has no more of it.
    fn release(&mut self, items: &mut Vec<ReplyDelta>) {
        let Some(Held { choice, index, name }) = self.held.take() else {
            return;
        };
        let fragment = CallFragment {
            index,
            name: Some(name.as_str().into()),
            ..CallFragment::default()
        };
        items.push(ReplyDelta::Call {
            choice,
            fragment: Box::new(fragment),
        });
    }
}

impl Decoder<Chat> for NamesDecoder {
    fn feed(&mut self, bytes: &[u8], items: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        let begin = items.len();
        let result = self.inner.feed(bytes, items);
        self.restore(items, begin);
        result
    }

    fn finish(&mut self, close: Close, items: &mut Vec<ReplyDelta>) -> Result<(), LlmError> {
        let begin = items.len();
        let result = self.inner.finish(close, items);
        self.restore(items, begin);
        self.release(items);
        result
    }

    fn is_done(&self) -> bool {
        self.inner.is_done()
    }
}
