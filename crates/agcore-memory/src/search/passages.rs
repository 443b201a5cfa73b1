//! Passages of pages: which parts of a long page match a query.

use std::collections::{BTreeMap, BTreeSet};

use agcore_chat::Citation;

use super::KeywordExtractor;
use crate::knowledge::KnowledgePage;

/// The number of characters after which a passage ends at the next opportunity.
const PASSAGE_CHARS: usize = 800;

/// The number of bytes of a heading that are kept.
const HEADING_BYTES: usize = 200;

/// A part of the text of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PagePart {
    /// The number of characters of the text before the part.
    pub start: usize,
    /// The number of characters of the text before the end of the part.
    pub end: usize,
    /// The headings of Markdown above the part, the outermost first.
    pub headings: Vec<String>,
    /// The part.
    pub text: String,
}

impl PagePart {
    /// Returns the citation of this part of a page: the lines and headings of the part, if the page is a part of a text whose
    /// lines are known, otherwise the place of the page.
    pub fn citation(&self, page: &KnowledgePage) -> Citation {
        let mut citation = page.citation();
        let position = &mut citation.position;
        let Some(first) = position.line.filter(|first| has_lines_of_source(page, *first)) else {
            return citation;
        };
        let before = page
            .content
            .chars()
            .take(self.start)
            .filter(|char| *char == '\n')
            .count();
        // A part may begin with the line break of the part before.
        let blank = self.text.len() - self.text.trim_start_matches(['\r', '\n']).len();
        let before = before + self.text[..blank].matches('\n').count();
        let own = self.text.trim().matches('\n').count();
        let line = |breaks: usize| first.saturating_add(u32::try_from(breaks).unwrap_or(u32::MAX));
        *position = std::mem::take(position).with_lines(line(before), line(before + own));
        if !self.headings.is_empty() {
            position.headings.clone_from(&self.headings);
        }
        position.characters = None;
        citation
    }
}

/// Returns whether the lines of a page are those of its file, which those of a table are not.
fn has_lines_of_source(page: &KnowledgePage, first: u32) -> bool {
    let last = page.citation().position.last_line.unwrap_or(first);
    let breaks = page.content.trim_end().matches('\n').count();
    usize::try_from(last - first).is_ok_and(|between| between == breaks)
}

/// Returns the citation of the part of a page that matches a query best: the lines below a heading of a note, or the place of the
/// page.
///
/// ```
/// use agcore_chat::SourcePosition;
/// use agcore_memory::{
///     knowledge::{KnowledgePage, PageSource},
///     search::{Keywords, best_citation},
/// };
///
/// let place = PageSource::new("garden.md", SourcePosition::new().with_lines(1, 7));
/// let text = "# Water\n\nIn the morning.\n\n# Soil\n\nLoose and dark.\n";
/// let page = KnowledgePage::new("garden", "Garden", text).with_source(place);
/// let citation = best_citation(&Keywords::new(), &page, "When is the morning?");
/// assert_eq!(citation.to_string(), "garden.md, lines 1 to 3, \"Water\"");
/// ```
pub fn best_citation(keywords: &dyn KeywordExtractor, page: &KnowledgePage, query: &str) -> Citation {
    if page.source.is_none() {
        return page.citation();
    }
    // The shortest length has only the best part.
    let best = matching_parts(keywords, &page.content, query, 1);
    best.first().map_or_else(|| page.citation(), |part| part.citation(page))
}

/// A passage of a text, in bytes and characters.
#[derive(Debug, Clone)]
struct Passage {
    bytes: (usize, usize),
    chars: (usize, usize),
    headings: Vec<(usize, String)>,
}

/// Returns the part of a text that begins at a character, with at most that many characters; `None` behind the end of the text.
///
/// It ends where a passage does if one ends in its second half: before a heading, or after a paragraph, a line, a sentence or a
/// word.
///
/// ```
/// use agcore_memory::search::page_part;
///
/// let text = "# Tea\n\nGreen.\n\n# Coffee\n\nBlack.\n";
/// let part = page_part(text, 15, 100).unwrap();
/// assert_eq!((part.text.as_str(), part.headings), ("# Coffee\n\nBlack.\n", vec!["Coffee".to_owned()]));
/// assert_eq!(page_part(text, 33, 100), None);
/// ```
pub fn page_part(content: &str, start: usize, longest: usize) -> Option<PagePart> {
    let (from, _) = content.char_indices().nth(start)?;
    let rest = &content[from..];
    let passages = passages(content);
    let end = match rest.char_indices().nth(longest) {
        None => content.len(),
        Some((length, _)) => {
            let window = from + length;
            let half = from + rest.char_indices().nth(longest / 2).map_or(0, |(half, _)| half);
            let ends = passages.iter().map(|passage| passage.bytes.1);
            ends.take_while(|end| *end <= window)
                .last()
                .filter(|end| *end > half)
                .unwrap_or(window)
        }
    };
    let within = passages.iter().rfind(|passage| passage.bytes.0 <= from);
    Some(PagePart {
        start,
        end: start + content[from..end].chars().count(),
        headings: within.map(names).unwrap_or_default(),
        text: content[from..end].to_owned(),
    })
}

/// Returns the parts of a text that match a query best, in their order, with their neighbourhood: at most about `longest`
/// characters together. Without a match, there are none.
///
/// Words that are rare in the text count more than those that are everywhere.
///
/// ```
/// use agcore_memory::search::{Keywords, matching_parts};
///
/// let filler = "The pump hums in the cellar all day. ".repeat(500);
/// let text = format!("{filler}\n\nThe reset code is 4711.\n\n{filler}");
/// let parts = matching_parts(&Keywords::new(), &text, "What is the reset code of the pump?", 2000);
/// assert!(parts[0].text.contains("4711"));
/// ```
pub fn matching_parts(keywords: &dyn KeywordExtractor, content: &str, query: &str, longest: usize) -> Vec<PagePart> {
    let passages = passages(content);
    let scores = scores(keywords, content, query, &passages);
    let mut ranked: Vec<usize> = (0..passages.len()).filter(|index| scores[*index] > 0.0).collect();
    ranked.sort_by(|one, other| scores[*other].total_cmp(&scores[*one]).then(one.cmp(other)));
    let Some(best) = ranked.first().map(|best| scores[*best]) else {
        return Vec::new();
    };
    // Weaker matches are only worth their place if they are not much weaker.
    ranked.retain(|index| scores[*index] * 2.0 >= best);
    let chars = |index: usize| passages[index].chars.1 - passages[index].chars.0;
    let mut chosen = BTreeSet::new();
    let mut left = longest;
    let mut choose = |index: usize, chosen: &mut BTreeSet<usize>| {
        if chosen.contains(&index) || (chars(index) > left && !chosen.is_empty()) {
            return;
        }
        left = left.saturating_sub(chars(index));
        chosen.insert(index);
    };
    for index in &ranked {
        choose(*index, &mut chosen);
    }
    for distance in 1..=2 {
        for index in &ranked {
            if !chosen.contains(index) {
                continue;
            }
            let around = [index.checked_add(distance), index.checked_sub(distance)];
            for near in around.into_iter().flatten().filter(|near| *near < passages.len()) {
                choose(near, &mut chosen);
            }
        }
    }
    joined(content, &passages, &chosen)
}

/// Puts neighbours together.
fn joined(content: &str, passages: &[Passage], chosen: &BTreeSet<usize>) -> Vec<PagePart> {
    let mut parts: Vec<PagePart> = Vec::new();
    let mut last = None;
    for index in chosen {
        let passage = &passages[*index];
        let text = &content[passage.bytes.0..passage.bytes.1];
        match parts
            .last_mut()
            .filter(|_| last.is_some_and(|last: usize| last + 1 == *index))
        {
            Some(part) => {
                part.text.push_str(text);
                part.end = passage.chars.1;
            }
            None => parts.push(PagePart {
                start: passage.chars.0,
                end: passage.chars.1,
                headings: names(passage),
                text: text.to_owned(),
            }),
        }
        last = Some(*index);
    }
    parts
}

/// Returns how well each passage matches: the sum of the weights of the keywords in it, and half of those only in its headings.
fn scores(extractor: &dyn KeywordExtractor, content: &str, query: &str, passages: &[Passage]) -> Vec<f64> {
    let keywords: BTreeMap<String, usize> = extractor.keywords(query).into_iter().zip(0..).collect();
    let found = |text: &str| {
        let mut found = BTreeSet::new();
        extractor.terms(text, &mut |term| found.extend(keywords.get(term)));
        found
    };
    let matches: Vec<_> = passages
        .iter()
        .map(|passage| {
            let text = found(&content[passage.bytes.0..passage.bytes.1]);
            let headings = found(&names(passage).join("\n"));
            (text, headings)
        })
        .collect();
    let mut frequencies = vec![0_usize; keywords.len()];
    for (text, headings) in &matches {
        for keyword in text.union(headings) {
            frequencies[*keyword] += 1;
        }
    }
    let all = passages.len() as f64;
    let weight = |keyword: &usize| (1.0 + all / frequencies[*keyword].max(1) as f64).ln();
    let scores = matches.iter().map(|(text, headings)| {
        let above: f64 = headings.difference(text).map(weight).sum();
        text.iter().map(weight).sum::<f64>() + above / 2.0
    });
    scores.collect()
}

fn names(passage: &Passage) -> Vec<String> {
    passage.headings.iter().map(|(_, heading)| heading.clone()).collect()
}

/// Divides a text into passages without gaps: at headings, and after about as many characters as a passage has.
fn passages(content: &str) -> Vec<Passage> {
    let mut passages = Vec::new();
    let mut headings: Vec<(usize, String)> = Vec::new();
    let mut fence: Option<&str> = None;
    let (mut start, mut chars) = ((0, 0), 0);
    let mut position = (0, 0);
    let mut cut = |start: &mut (usize, usize), end: (usize, usize), headings: &[(usize, String)]| {
        if end.0 > start.0 {
            passages.push(Passage {
                bytes: (start.0, end.0),
                chars: (start.1, end.1),
                headings: headings.to_vec(),
            });
        }
        *start = end;
    };
    for line in content.split_inclusive('\n') {
        let marker = ["```", "~~~"]
            .into_iter()
            .find(|marker| line.trim_start().starts_with(marker));
        let heading = heading(line).filter(|_| fence.is_none());
        match (fence, marker) {
            (None, Some(marker)) => fence = Some(marker),
            (Some(open), Some(marker)) if open == marker => fence = None,
            _ => {}
        }
        if let Some((level, name)) = heading {
            cut(&mut start, position, &headings);
            headings.retain(|(open, _)| *open < level);
            headings.push((level, name));
            chars = 0;
        } else if chars >= PASSAGE_CHARS && line.trim().is_empty() || chars >= 2 * PASSAGE_CHARS {
            cut(&mut start, position, &headings);
            chars = 0;
        }
        for piece in pieces(line) {
            let length = piece.chars().count();
            if chars > 0 && chars + length > 2 * PASSAGE_CHARS {
                cut(&mut start, position, &headings);
                chars = 0;
            }
            chars += length;
            position = (position.0 + piece.len(), position.1 + length);
        }
    }
    cut(&mut start, position, &headings);
    passages
}

/// Divides a long line after sentences, else after words, else anywhere.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some((end, _)) = rest.char_indices().nth(PASSAGE_CHARS) {
        let window = &rest[..end];
        let half = end / 2;
        let after = |pattern: &str| window.rfind(pattern).map(|found| found + pattern.len());
        let sentence = [". ", "! ", "? ", "。", "！", "？"].into_iter().filter_map(after).max();
        let candidates = [sentence, after(" ")];
        let cut = candidates.into_iter().flatten().find(|cut| *cut > half).unwrap_or(end);
        let (piece, after) = rest.split_at(cut);
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces
}

/// Reads a heading of Markdown.
fn heading(line: &str) -> Option<(usize, String)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    if !(1..=6).contains(&level) || !rest.starts_with([' ', '\t']) {
        return None;
    }
    let name = rest.trim().trim_end_matches('#').trim_end();
    let mut end = name.len().min(HEADING_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    (!name.is_empty()).then(|| (level, name[..end].to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::search::Keywords;

    fn found(content: &str, query: &str) -> Vec<PagePart> {
        matching_parts(&Keywords::new(), content, query, 3000)
    }

    #[test]
    fn a_fact_far_behind_the_beginning_is_found() {
        for (filler, fact, query) in [
            (
                "The pump hums in the cellar all day. ",
                "The reset code of the pump is 4711.",
                "What is the reset code of the pump?",
            ),
            (
                "水泵整天在地下室里嗡嗡作响。",
                "水泵的复位密码是4711。",
                "水泵的复位密码是什么？",
            ),
        ] {
            for number in [300, 3_000] {
                let filler = filler.repeat(number);
                let text = format!("# Manual\n\n{filler}\n\n## Reset\n\n{fact}\n\n## More\n\n{filler}");
                let parts = found(&text, query);
                let part = parts.iter().find(|part| part.text.contains(fact)).unwrap();
                assert!(parts.iter().map(|part| part.text.chars().count()).sum::<usize>() <= 3000);
                let at = text
                    .chars()
                    .skip(part.start)
                    .take(part.end - part.start)
                    .collect::<String>();
                assert_eq!(at, part.text);
            }
        }
    }

    #[test]
    fn several_matches_of_a_page_are_found_in_their_order() {
        let filler = "Nothing of interest is written in this sentence. ".repeat(100);
        let text = format!("{filler}\n\nThe valve is blue.\n\n{filler}\n\nThe valve opens at noon.\n\n{filler}");
        let texts: Vec<String> = found(&text, "valve").into_iter().map(|part| part.text).collect();
        let at = |fact: &str| texts.iter().position(|text| text.contains(fact)).unwrap();
        assert!(at("blue") < at("noon"), "{texts:?}");
        assert_eq!(found(&text, "nowhere"), []);
        assert_eq!(found("", "valve"), []);
    }

    #[test]
    fn headings_count_and_code_has_none() {
        let text = "# A\n\nx\n\n## Valves #\n\ny\n\n```sh\n# no heading\n```\n\n# B\n\nz\n";
        let passages = passages(text);
        let headings: Vec<String> = passages.iter().map(|passage| names(passage).join("/")).collect();
        assert_eq!(headings, ["A", "A/Valves", "B"]);
        let parts = matching_parts(&Keywords::new(), text, "valve", 10);
        assert_eq!((parts.len(), parts[0].headings.join("/").as_str()), (1, "A/Valves"));
    }

    proptest! {
        #[test]
        fn parts_cover_the_text(text in "(#{0,3} ?[a-c価 .\n`~]{0,30}\n?){0,8}", longest in 1_usize..60) {
            let joined: String = passages(&text).iter().map(|passage| &text[passage.bytes.0..passage.bytes.1]).collect();
            prop_assert_eq!(&joined, &text);
            let (mut read, mut start) = (String::new(), 0);
            while let Some(part) = page_part(&text, start, longest) {
                prop_assert!(part.end > start && part.end - start <= longest);
                read += &part.text;
                start = part.end;
            }
            prop_assert_eq!(read, text);
        }
    }
}
