//! Secrets in the text of a reply, which may be split between several items.

use std::collections::HashMap;

use agcore_chat::Text;

use super::redactor::Redactor;
use crate::{
    cassette::{exchange::Chunk, item::RecordedItem},
    credential::REDACTED,
    reply::Notice,
};
use agcore_wire::{Fold, ReplyDelta};

/// Identifies the text that a piece belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct TextId {
    /// The number of the attempt. A restart discards the text of earlier attempts.
    attempt: usize,
    choice: u32,
    field: Field,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Field {
    Text,
    Reasoning,
    Refusal,
    CallName(usize),
    /// The input of the call with this index. Each complete input is a text of its own, identified by a number above 0.
    CallInput {
        call: usize,
        complete: usize,
    },
}

/// Redacts the concatenated text of all pieces. The number of pieces stays the same: the piece in which a secret starts
/// contains the replacement, and the following pieces lose their parts of the secret.
pub(super) fn redact(redactor: &Redactor, chunks: &mut [Chunk]) {
    let mut texts: HashMap<TextId, Vec<&mut Text>> = HashMap::new();
    let mut fold = Fold::new();
    let mut attempt = 0;
    let mut complete_inputs = 0;
    for item in chunks.iter_mut().flat_map(|chunk| &mut chunk.items) {
        let delta = match item {
            RecordedItem::Delta(delta) => delta,
            RecordedItem::Notice(notice) => {
                notice.fold_into(&mut fold);
                attempt += usize::from(matches!(
                    notice,
                    Notice::RetryScheduled { .. } | Notice::Restarted { .. }
                ));
                continue;
            }
        };
        attempt += usize::from(matches!(delta, ReplyDelta::Restart));
        let call = fold.push(delta).unwrap_or_default();
        let mut add = |choice, field, text| {
            texts.entry(TextId { attempt, choice, field }).or_default().push(text);
        };
        match delta {
            ReplyDelta::Text { choice, text } => add(*choice, Field::Text, text),
            ReplyDelta::Reasoning { choice, text } => add(*choice, Field::Reasoning, text),
            ReplyDelta::Refusal { choice, text } => add(*choice, Field::Refusal, text),
            ReplyDelta::Call { choice, fragment } => {
                complete_inputs += usize::from(fragment.whole_input);
                let complete = if fragment.whole_input { complete_inputs } else { 0 };
                if let Some(name) = &mut fragment.name {
                    add(*choice, Field::CallName(call), name);
                }
                if let Some(input) = &mut fragment.input {
                    add(*choice, Field::CallInput { call, complete }, input);
                }
            }
            _ => {}
        }
    }
    for mut pieces in texts.into_values() {
        redact_pieces(redactor, &mut pieces);
    }
}

fn redact_pieces(redactor: &Redactor, pieces: &mut [&mut Text]) {
    let text: String = pieces.iter().map(|piece| piece.as_str()).collect();
    let Some(redacted) = redactor.redacted(&text) else {
        return;
    };
    let split = split_redacted(redactor, &text, pieces);
    if split.concat() == redacted {
        pieces
            .iter_mut()
            .zip(split)
            .for_each(|(piece, text)| **piece = text.into());
        return;
    }
    // Escape sequences hide the position of the secret in the pieces, so the first piece gets the complete text.
    let mut redacted = Some(Text::from(redacted));
    pieces
        .iter_mut()
        .for_each(|piece| **piece = redacted.take().unwrap_or_default());
}

/// Returns the redacted pieces of a text.
fn split_redacted(redactor: &Redactor, text: &str, pieces: &[&mut Text]) -> Vec<String> {
    let secrets = redactor.find(text);
    let mut start = 0;
    let redact_piece = |piece: &&mut Text| {
        let end = start + piece.len();
        let mut redacted = String::new();
        let mut copied = start;
        for secret in secrets.iter().filter(|secret| secret.start < end && secret.end > start) {
            redacted.push_str(&text[copied..secret.start.max(copied)]);
            if secret.start >= start {
                redacted.push_str(REDACTED);
            }
            copied = secret.end.min(end);
        }
        redacted.push_str(&text[copied..end]);
        start = end;
        redacted
    };
    pieces.iter().map(redact_piece).collect()
}
