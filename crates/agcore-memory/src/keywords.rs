//! [`KeywordExtractor`]: from texts to the terms that an index keeps, and from queries to those that it looks for.

mod segments;

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    sync::Mutex,
};

use rust_stemmers::{Algorithm, Stemmer};

use self::segments::{Segment, segments};

/// The maximum number of keywords of a query. Others are ignored.
pub const MAX_KEYWORDS: usize = 256;

/// The fingerprint of the terms without stems. Add 2 when the terms of any text change.
const FINGERPRINT: u64 = 2;

/// English words that occur in most texts, and those with which questions begin.
const STOP_WORDS: &str = "
    a about above after again against all also am an and any are aren as at be because been before being below between both but
    by can cannot could couldn d did didn do does doesn doing don down during each few for from further had hadn has hasn have
    haven having he her here hers herself him himself his how i if in into is isn it its itself just ll m me more most mustn my
    myself no nor not now o of off on once only or other our ours ourselves out over own re s same she should shouldn
    so some such t than that the their theirs them themselves then there these they this those through to too under until up ve
    very was wasn we were weren what when where which while who whom why will with won would wouldn y you your yours yourself
    yourselves
";

/// Converts texts and queries to terms. Texts match a query if they have terms in common.
pub trait KeywordExtractor: Send + Sync + fmt::Debug {
    /// Calls a function with each term of a text, in order. A term that occurs twice is found twice.
    fn terms(&self, text: &str, found: &mut dyn FnMut(&str));

    /// Returns the terms to look for: each once, without those that say little, at most [`MAX_KEYWORDS`].
    fn keywords(&self, query: &str) -> Vec<String>;

    /// Identifies the rules by which texts become terms. An index that is kept with other rules is built again. By default 0:
    /// return another number whenever [`terms`](Self::terms) changes.
    fn fingerprint(&self) -> u64 {
        0
    }
}

/// The default [`KeywordExtractor`], for English, for other languages with spaces between words, and for scripts without: Chinese,
/// Japanese, Korean, Thai and others. One text may mix them.
///
/// - Letters are compared without regard to case, accents on Latin letters, and forms such as full width.
/// - English words are reduced to their stems: `watered` finds `watering`. Words with letters other than `a` to `z` are kept as
///   they are.
/// - Scripts without spaces become single characters and pairs of characters. A query looks for pairs, and for
///   single Chinese characters.
/// - Queries lose words that occur everywhere, such as `the`, unless nothing else is left.
///
/// ```
/// use agcore_memory::search::{KeywordExtractor, Keywords};
///
/// let keywords = Keywords::new();
/// assert_eq!(keywords.keywords("How do I water the tomatoes?"), ["water", "tomato"]);
/// assert_eq!(keywords.keywords("浇番茄"), ["浇番", "番茄", "浇", "番", "茄"]);
/// assert_eq!(keywords.keywords("To be or not to be"), ["to", "be", "or", "not"]);
/// ```
pub struct Keywords {
    stemmer: Option<Stemmer>,
    /// Finding a stem takes longer than everything else, and most words of a text are frequent ones.
    stems: Mutex<Stems>,
    stop_words: BTreeSet<String>,
}

/// Words with their stems.
type Stems = HashMap<Box<str>, Box<str>>;

/// The number of words whose stems are kept.
const MAX_STEMS: usize = 1 << 15;

impl Keywords {
    /// Creates an extractor with English stop words and stems.
    pub fn new() -> Self {
        Self {
            stemmer: Some(Stemmer::create(Algorithm::English)),
            stems: Mutex::default(),
            stop_words: STOP_WORDS.split_whitespace().map(str::to_owned).collect(),
        }
    }

    /// Sets the words that queries lose, in lower case. Words of scripts without spaces have no effect.
    #[must_use]
    pub fn with_stop_words<W: Into<String>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        self.stop_words = words.into_iter().map(Into::into).collect();
        self
    }

    /// Keeps words as they are, for languages other than English.
    #[must_use]
    pub fn without_stems(mut self) -> Self {
        self.stemmer = None;
        self
    }

    /// Calls a function with the stem of a word. Without `known` stems, it is found again.
    fn stem(&self, word: &str, known: Option<&mut Stems>, found: &mut dyn FnMut(&str)) {
        let has_stem = |_: &&Stemmer| word.bytes().all(|byte| byte.is_ascii_lowercase());
        let Some(stemmer) = self.stemmer.as_ref().filter(has_stem) else {
            return found(word);
        };
        let Some(known) = known else {
            return found(&stemmer.stem(word));
        };
        if let Some(stem) = known.get(word) {
            return found(stem);
        }
        let stem = stemmer.stem(word);
        found(&stem);
        if known.len() >= MAX_STEMS {
            known.clear();
        }
        known.insert(word.into(), stem.into());
    }
}

impl Default for Keywords {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Keywords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keywords")
            .field("stems", &self.stemmer.is_some())
            .field("stop_words", &self.stop_words.len())
            .finish()
    }
}

impl KeywordExtractor for Keywords {
    fn terms(&self, text: &str, found: &mut dyn FnMut(&str)) {
        // Threads do not wait for each other.
        let mut stems = self.stems.try_lock().ok();
        segments(text, &mut |segment| match segment {
            Segment::Word(word) => self.stem(word, stems.as_deref_mut(), found),
            Segment::Characters(run) => {
                for (position, character) in run.iter().enumerate() {
                    let mut buffer = [0; 8];
                    found(character.encode_utf8(&mut buffer));
                    if let Some(next) = run.get(position + 1) {
                        found(pair(*character, *next, &mut buffer));
                    }
                }
            }
        });
    }

    fn keywords(&self, query: &str) -> Vec<String> {
        let (mut strong, mut weak, mut single) = (Distinct::default(), Distinct::default(), Distinct::default());
        segments(query, &mut |segment| match segment {
            Segment::Word(word) => {
                let terms = if self.stop_words.contains(word) {
                    &mut weak
                } else {
                    &mut strong
                };
                self.stem(word, None, &mut |term| terms.push(term));
            }
            Segment::Characters([character]) => {
                let terms = if is_particle(*character) {
                    &mut weak
                } else {
                    &mut strong
                };
                terms.push(character.encode_utf8(&mut [0; 4]));
            }
            Segment::Characters(run) => {
                // The other half of a word may be written in another way.
                for character in run
                    .iter()
                    .filter(|character| is_han(**character) && !is_particle(**character))
                {
                    single.push(character.encode_utf8(&mut [0; 4]));
                }
                for characters in run.windows(2) {
                    let mut buffer = [0; 8];
                    let pair = pair(characters[0], characters[1], &mut buffer);
                    let terms = if is_ending(pair) { &mut weak } else { &mut strong };
                    terms.push(pair);
                }
            }
        });
        for term in single.terms {
            strong.push(&term);
        }
        if strong.terms.is_empty() {
            weak.terms
        } else {
            strong.terms
        }
    }

    fn fingerprint(&self) -> u64 {
        FINGERPRINT + u64::from(self.stemmer.is_some())
    }
}

/// Writes two characters to a buffer.
fn pair(one: char, other: char, buffer: &mut [u8; 8]) -> &str {
    let length = one.encode_utf8(buffer).len();
    let length = length + other.encode_utf8(&mut buffer[length..]).len();
    // Two characters are valid UTF-8.
    std::str::from_utf8(&buffer[..length]).unwrap_or_default()
}

/// Returns whether a character mostly has a grammatical function.
fn is_particle(character: char) -> bool {
    matches!(
        character,
        '\u{3041}'..='\u{309f}' | '的' | '了' | '吗' | '呢' | '吧' | '啊' | '是' | '在' | '我' | '你'
    )
}

/// Returns whether a character is a Chinese one, which has a meaning by itself.
fn is_han(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns whether a pair of characters mostly belongs to the ending of a Japanese verb, or to words such as `because`.
fn is_ending(pair: &str) -> bool {
    const ENDINGS: &str = "です ます まし した して てい いる いま ませ せん から まで こと する され れる られ ある ない には では \
                           とは すか ので のに よう った って ため など";
    ENDINGS.split_whitespace().any(|ending| ending == pair)
}

/// Terms without repetition, in order.
#[derive(Default)]
struct Distinct {
    terms: Vec<String>,
    known: BTreeSet<String>,
}

impl Distinct {
    fn push(&mut self, term: &str) {
        if self.terms.len() < MAX_KEYWORDS && !self.known.contains(term) {
            self.known.insert(term.to_owned());
            self.terms.push(term.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        Keywords::new().terms(text, &mut |term| terms.push(term.to_owned()));
        terms
    }

    fn keywords(query: &str) -> Vec<String> {
        Keywords::new().keywords(query)
    }

    #[test]
    fn english_is_reduced_to_stems() {
        assert_eq!(terms("Watering the Plants"), ["water", "the", "plant"]);
        assert_eq!(
            terms("snake_case v1.2 x86-64"),
            ["snake", "case", "v1", "2", "x86", "64"]
        );
        assert_eq!(keywords("Ann's flights, flight"), ["ann", "flight"]);
        assert_eq!(keywords("don't they"), ["don", "t", "they"]);
    }

    #[test]
    fn variants_of_letters_are_the_same() {
        assert_eq!(terms("Café ＡＢＣ ﬁne İ"), terms("cafe abc fine i"));
        assert_eq!(terms("ガ"), terms("ｶﾞ"));
        assert_eq!(terms("Ёлка й"), ["ёлка", "й"]);
        assert_eq!(terms("हिन्दी"), ["हिन्दी"]);
    }

    #[test]
    fn scripts_without_spaces_become_pairs() {
        assert_eq!(terms("浇水"), ["浇", "浇水", "水"]);
        assert_eq!(keywords("水"), ["水"]);
        assert_eq!(
            keywords("用Rust写的程序"),
            ["用", "rust", "写的", "的程", "程序", "写", "程", "序"]
        );
        assert_eq!(
            keywords("東京で食べました。"),
            ["東京", "京で", "で食", "食べ", "べま", "東", "京", "食"]
        );
        assert_eq!(keywords("ですか"), ["です", "すか"]);
        assert_eq!(keywords("한국어 문서"), ["한국", "국어", "문서"]);
    }

    #[test]
    fn queries_of_any_kind_have_keywords_or_none() {
        assert_eq!(keywords("a"), ["a"]);
        assert_eq!(keywords("the of and"), ["the", "of", "and"]);
        assert_eq!(keywords(""), [""; 0]);
        assert_eq!(keywords("?!… \0"), [""; 0]);
        // Operators of query languages are nothing but text.
        assert_eq!(
            keywords("title:tea AND (green OR \"black\") NOT x* ^2 ~1"),
            ["titl", "tea", "green", "black", "x", "2", "1"]
        );
        let large = (0..200_000).map(|number| format!("w{number} ")).collect::<String>();
        assert_eq!(keywords(&large).len(), MAX_KEYWORDS);
    }

    #[test]
    fn rules_are_replaceable() {
        let german = Keywords::new().without_stems().with_stop_words(["der", "die", "das"]);
        assert_eq!(german.keywords("die Gärten the"), ["garten", "the"]);
    }

    proptest! {
        #[test]
        fn what_a_query_looks_for_is_in_the_text(text in "(\\PC|[a-z 日本语でぐ한]){0,40}") {
            let (terms, keywords) = (terms(&text), keywords(&text));
            for keyword in keywords {
                prop_assert!(terms.contains(&keyword), "{keyword}: {terms:?}");
            }
        }
    }
}
