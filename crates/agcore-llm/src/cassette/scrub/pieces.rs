//! Secrets in the texts of a reply, which come in pieces that may cut through them.

use std::collections::HashMap;

use agcore_chat::Text;

use super::cleaner::Cleaner;
use crate::{
    cassette::{exchange::Chunk, item::RecordedItem},
    credential::MARK,
    reply::Notice,
};
use agcore_wire::{Fold, ReplyDelta};

/// Which text a piece belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Track {
    /// Which attempt; a restart voids what came before.
    attempt: usize,
    choice: u32,
    part: Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Text,
    Reasoning,
    Refusal,
    CallName(usize),
    /// Of the call at this place; a whole input stands for itself.
    CallInput {
        call: usize,
        whole: usize,
    },
}

/// Cleans the texts as they are when their pieces are put together. The pieces stay as many as they were: the mark stands in
/// the one in which a secret begins, and those after it lose their parts of it.
pub(super) fn clean(cleaner: &Cleaner, chunks: &mut [Chunk]) {
    let mut tracks: HashMap<Track, Vec<&mut Text>> = HashMap::new();
    let mut fold = Fold::new();
    let mut attempt = 0;
    let mut wholes = 0;
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
        let mut add = |choice, part, text| {
            tracks.entry(Track { attempt, choice, part }).or_default().push(text);
        };
        match delta {
            ReplyDelta::Text { choice, text } => add(*choice, Part::Text, text),
            ReplyDelta::Reasoning { choice, text } => add(*choice, Part::Reasoning, text),
            ReplyDelta::Refusal { choice, text } => add(*choice, Part::Refusal, text),
            ReplyDelta::Call { choice, fragment } => {
                wholes += usize::from(fragment.whole_input);
                let whole = if fragment.whole_input { wholes } else { 0 };
                if let Some(name) = &mut fragment.name {
                    add(*choice, Part::CallName(call), name);
                }
                if let Some(input) = &mut fragment.input {
                    add(*choice, Part::CallInput { call, whole }, input);
                }
            }
            _ => {}
        }
    }
    for mut pieces in tracks.into_values() {
        clean_track(cleaner, &mut pieces);
    }
}

fn clean_track(cleaner: &Cleaner, pieces: &mut [&mut Text]) {
    let whole: String = pieces.iter().map(|piece| piece.as_str()).collect();
    let Some(clean) = cleaner.cleaned(&whole) else {
        return;
    };
    let parted = parted(cleaner, &whole, pieces);
    if parted.concat() == clean {
        pieces
            .iter_mut()
            .zip(parted)
            .for_each(|(piece, text)| **piece = text.into());
        return;
    }
    // The secret was behind escapes, and its place in the pieces is not known: the first one takes it all.
    let mut clean = Some(Text::from(clean));
    pieces
        .iter_mut()
        .for_each(|piece| **piece = clean.take().unwrap_or_default());
}

/// The pieces without what was found in the whole.
fn parted(cleaner: &Cleaner, whole: &str, pieces: &[&mut Text]) -> Vec<String> {
    let places = cleaner.found(whole);
    let mut begin = 0;
    let part = |piece: &&mut Text| {
        let end = begin + piece.len();
        let mut text = String::new();
        let mut at = begin;
        for place in places.iter().filter(|place| place.start < end && place.end > begin) {
            text.push_str(&whole[at..place.start.max(at)]);
            if place.start >= begin {
                text.push_str(MARK);
            }
            at = place.end.min(end);
        }
        text.push_str(&whole[at..end]);
        begin = end;
        text
    };
    pieces.iter().map(part).collect()
}
