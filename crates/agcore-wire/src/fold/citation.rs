//! [`citations`]: what replies cite, in the form that is the same for every vendor.

use agcore_chat::{AssistantMessage, Block, Choice, Citation, SourcePosition, TextBlock, TextSpan};
use serde_json::Value;

/// Returns what a reply cites: web pages, files and parts of documents, in the order of the reply. Spans are those of
/// [`AssistantMessage::text`].
///
/// The vendors' own forms stay in the reply as they are: annotations of OpenAI, citations of Anthropic, grounding of Gemini. An
/// entry without a source that can be named is left out.
///
/// ```
/// use agcore_chat::ChatResponse;
/// use agcore_wire::citations;
///
/// let reply = r#"{"choices": [{"message": {"role": "assistant", "content": "It rains in Oslo.", "annotations": [
///     {"type": "url_citation", "url_citation":
///         {"url": "https://example.com/oslo", "title": "Oslo", "start_index": 3, "end_index": 8}}]}}]}"#;
/// let response: ChatResponse = serde_json::from_str(reply)?;
/// let cited = citations(&response.choices[0]);
/// assert_eq!((cited[0].source.as_str(), cited[0].title.as_deref()), ("https://example.com/oslo", Some("Oslo")));
/// assert_eq!(cited[0].span.unwrap().start, 3);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn citations(choice: &Choice) -> Vec<Citation> {
    let message = &choice.message;
    let mut found = Vec::new();
    let mut start = 0;
    for block in texts(message) {
        let length = block.text.chars().count();
        of_block(block, TextSpan::new(start, start + length), &mut found);
        start += length;
    }
    // Those of a message are those of its parts, once more.
    if found.is_empty() {
        let annotations = message.annotations.as_ref().and_then(Value::as_array);
        found.extend(
            annotations
                .into_iter()
                .flatten()
                .filter_map(|entry| annotation(entry, 0)),
        );
    }
    if let Some(grounding) = choice.extra.get("groundingMetadata") {
        grounded(grounding, &message.text(), &mut found);
    }
    found
}

fn texts(message: &AssistantMessage) -> impl Iterator<Item = &TextBlock> {
    message.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text),
        _ => None,
    })
}

/// Adds the citations that came with a block of text.
fn of_block(block: &TextBlock, span: TextSpan, found: &mut Vec<Citation>) {
    let Some(data) = block.vendor.as_ref().map(|vendor| &vendor.data) else {
        return;
    };
    let annotations = data.pointer("/part/annotations").and_then(Value::as_array);
    found.extend(
        annotations
            .into_iter()
            .flatten()
            .filter_map(|entry| annotation(entry, span.start)),
    );
    let cited = data.get("citations").and_then(Value::as_array);
    // A block with citations is a statement that they support.
    found.extend(
        cited
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(location(entry)?.with_span(span))),
    );
}

/// Reads an annotation of the APIs of OpenAI, whose members may be in an object of its type.
fn annotation(entry: &Value, offset: usize) -> Option<Citation> {
    let kind = text(entry, "type")?;
    let members = entry.get(kind).filter(|inner| inner.is_object()).unwrap_or(entry);
    let source = text(members, "url")
        .or_else(|| text(members, "filename"))
        .or_else(|| text(members, "file_id"))?;
    let mut citation = Citation::new(source);
    citation.title = text(members, "title")
        .or_else(|| text(members, "filename"))
        .map(str::to_owned);
    citation.quote = text(members, "quote").map(str::to_owned);
    if let (Some(start), Some(end)) = (number(members, "start_index"), number(members, "end_index")) {
        citation.span = (start <= end).then(|| TextSpan::new(offset + start, offset + end));
    }
    Some(citation)
}

/// Reads a citation of Anthropic's API.
fn location(entry: &Value) -> Option<Citation> {
    let document = number(entry, "document_index").map(|index| format!("document {}", index + 1));
    let named = ["url", "source", "document_title", "title"]
        .into_iter()
        .find_map(|member| text(entry, member));
    let mut citation = Citation::new(named.map(str::to_owned).or(document)?);
    let title = text(entry, "title").or_else(|| text(entry, "document_title"));
    citation.title = title.map(str::to_owned);
    citation.quote = text(entry, "cited_text").map(str::to_owned);
    let ends = |start: &str, end: &str| Some((number(entry, start)?, number(entry, end)?));
    if let Some((start, end)) = ends("start_char_index", "end_char_index") {
        citation.position = SourcePosition::new().with_characters(TextSpan::new(start, end));
    }
    if let Some((start, end)) = ends("start_page_number", "end_page_number") {
        // The end is the page after the last one.
        let page = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        citation.position = SourcePosition::new().with_pages(page(start), page(end.saturating_sub(1)));
    }
    Some(citation)
}

/// Adds the sources with which Gemini supports parts of a text, or, without parts, those that it has used.
fn grounded(grounding: &Value, whole: &str, found: &mut Vec<Citation>) {
    let list = |member: &str| {
        grounding
            .get(member)
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice)
    };
    let chunks: Vec<Option<Citation>> = list("groundingChunks").iter().map(chunk).collect();
    let supports = list("groundingSupports");
    if supports.is_empty() {
        found.extend(chunks.into_iter().flatten());
        return;
    }
    for support in supports {
        let span = support.get("segment").and_then(|segment| segment_span(segment, whole));
        let indices = support.get("groundingChunkIndices").and_then(Value::as_array);
        for index in indices.into_iter().flatten().filter_map(Value::as_u64) {
            let chunk = usize::try_from(index).ok().and_then(|index| chunks.get(index)?.clone());
            found.extend(chunk.map(|mut citation| {
                citation.span = span;
                citation
            }));
        }
    }
}

fn chunk(chunk: &Value) -> Option<Citation> {
    let members = ["web", "retrievedContext", "maps"]
        .into_iter()
        .find_map(|kind| chunk.get(kind))?;
    let mut citation = Citation::new(text(members, "uri").or_else(|| text(members, "title"))?);
    citation.title = text(members, "title").map(str::to_owned);
    citation.quote = text(members, "text").map(str::to_owned);
    Some(citation)
}

/// Returns the characters of a segment, whose places are bytes of its part of the reply.
fn segment_span(segment: &Value, whole: &str) -> Option<TextSpan> {
    let (start, end) = (number(segment, "startIndex").unwrap_or(0), number(segment, "endIndex")?);
    let shown = text(segment, "text");
    let range = match (whole.get(start..end), shown) {
        (Some(found), Some(shown)) if found != shown => None,
        (found, _) => found.map(|_| (start, end)),
    };
    // In a reply of several parts, the text decides which part it is.
    let range = range.or_else(|| {
        let start = whole.find(shown?)?;
        Some((start, start + shown?.len()))
    });
    let (start, end) = range?;
    let before = whole[..start].chars().count();
    Some(TextSpan::new(before, before + whole[start..end].chars().count()))
}

fn text<'v>(value: &'v Value, member: &str) -> Option<&'v str> {
    value
        .get(member)
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
}

fn number(value: &Value, member: &str) -> Option<usize> {
    value
        .get(member)
        .and_then(Value::as_u64)
        .and_then(|number| usize::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use agcore_chat::VendorData;
    use serde_json::json;

    use super::*;

    fn block(text: &str, data: Value) -> Block {
        Block::Text(TextBlock {
            text: text.to_owned(),
            vendor: Some(VendorData::new("vendor", data)),
            ..TextBlock::default()
        })
    }

    fn reply(blocks: Vec<Block>) -> Choice {
        Choice {
            message: AssistantMessage {
                blocks,
                ..AssistantMessage::default()
            },
            ..Choice::default()
        }
    }

    fn spans(found: &[Citation]) -> Vec<Option<(usize, usize)>> {
        found
            .iter()
            .map(|cited| cited.span.map(|span| (span.start, span.end)))
            .collect()
    }

    #[test]
    fn annotations_of_parts_count_from_their_part() {
        let annotation = json!({"type": "url_citation", "url": "https://a", "start_index": 1, "end_index": 2});
        let file = json!({"type": "file_citation", "file_id": "f1", "filename": "a.pdf", "index": 3});
        let mut choice = reply(vec![
            Block::text("Größe "),
            block(
                "X.",
                json!({"part": {"annotations": [annotation, file, {"type": "file_path"}]}}),
            ),
        ]);
        // The same once more, for the whole message.
        choice.message.annotations = Some(json!([annotation]));
        let found = citations(&choice);
        assert_eq!(
            found.iter().map(|cited| cited.source.as_str()).collect::<Vec<_>>(),
            ["https://a", "a.pdf"]
        );
        assert_eq!(spans(&found), [Some((7, 8)), None]);
    }

    #[test]
    fn blocks_with_citations_are_supported_as_a_whole() {
        let pages = json!({"type": "page_location", "cited_text": "x", "document_index": 0, "document_title": "Report",
            "start_page_number": 2, "end_page_number": 3});
        let characters = json!({"type": "char_location", "cited_text": "y", "document_index": 1, "document_title": null,
            "start_char_index": 5, "end_char_index": 9});
        let choice = reply(vec![
            block("水。", json!({})),
            block("Rain.", json!({"citations": [pages, characters, 7]})),
        ]);
        let found = citations(&choice);
        let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["Report, page 2", "document 2, characters 6 to 9"]);
        assert_eq!(spans(&found), [Some((2, 7)), Some((2, 7))]);
        assert_eq!(found[0].quote.as_deref(), Some("x"));
    }

    #[test]
    fn grounding_counts_bytes_of_the_text() {
        let mut choice = reply(vec![Block::text("Größe: 5. Oslo is cold.")]);
        let grounding = json!({
            "groundingChunks": [{"web": {"uri": "https://o", "title": "Oslo"}}, {"retrievedContext": {"title": "a.txt"}}, {}],
            "groundingSupports": [
                {"segment": {"startIndex": 12, "endIndex": 25, "text": "Oslo is cold."}, "groundingChunkIndices": [0, 1, 2, 9]},
                {"segment": {"startIndex": 1, "endIndex": 3}, "groundingChunkIndices": [0]},
            ],
        });
        choice.extra.insert("groundingMetadata", grounding);
        let found = citations(&choice);
        assert_eq!(
            found.iter().map(|cited| cited.source.as_str()).collect::<Vec<_>>(),
            ["https://o", "a.txt", "https://o"]
        );
        // The last segment ends within a character.
        assert_eq!(spans(&found), [Some((10, 23)), Some((10, 23)), None]);
        choice.extra.insert(
            "groundingMetadata",
            json!({"groundingChunks": [{"web": {"uri": "https://o"}}]}),
        );
        assert_eq!(spans(&citations(&choice)), [None]);
    }

    #[test]
    fn anything_else_is_left_out() {
        let mut choice = reply(vec![
            block("x", json!({"citations": "none", "part": 3})),
            block("y", json!(null)),
        ]);
        choice.message.annotations =
            Some(json!([null, 7, {"type": "url_citation"}, {"type": "url_citation", "url_citation": {}}]));
        choice.extra.insert("groundingMetadata", json!([1]));
        assert_eq!(citations(&choice), []);
    }
}
