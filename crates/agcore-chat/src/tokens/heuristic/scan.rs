//! One pass over a text that splits it into units.
//!
//! The scanner splits like pre-tokenizers do: a word includes the single space before it, digits come in groups of
//! three, a run of spaces or of one punctuation character is one token, a newline is joined with the punctuation before
//! it. Units are only ever added, so that a longer text never counts less.

use super::class::{Class, Script};
use super::pieces::Piece;
use super::unit::Unit;
use super::{letters, puncts};

/// The number of words after an accented letter for which a text counts as not English.
const ACCENTED_WORDS: u8 = 12;

/// Reads characters and passes every unit at which a token may start to `emit`.
pub(super) struct Scanner<F> {
    emit: F,
    prev: Option<Class>,
    prev_char: char,
    /// The number of spaces since `prev_char`.
    spaces: usize,
    /// The number of characters in the current run so far.
    run: usize,
    /// How different the current word is from common words so far: 0 to 2.
    rough: usize,
    /// The number of further words for which the text counts as not English.
    accented: u8,
    /// Whether `accented` is due to a letter outside Latin-1.
    extended: bool,
    /// Whether `prev_char` is an apostrophe after a letter.
    apostrophe: bool,
    /// The end of the current word so far that may be the beginning of a token.
    piece: Piece,
}

impl<F: FnMut(Unit)> Scanner<F> {
    pub(super) fn new(emit: F) -> Self {
        Self {
            emit,
            prev: None,
            prev_char: ' ',
            spaces: 0,
            run: 0,
            rough: 0,
            accented: 0,
            extended: false,
            apostrophe: false,
            piece: Piece::new(false),
        }
    }

    /// Reads the next character.
    #[inline]
    pub(super) fn push(&mut self, c: char) {
        match Class::from_char(c) {
            // The most frequent case by far.
            Class::Lower if self.spaces == 0 && self.prev == Some(Class::Lower) => {
                self.next_letter(c);
                self.prev_char = c;
            }
            Class::Space => self.space(),
            class => self.visible(c, class),
        }
    }

    /// A single space belongs to the token that follows; several are a token of their own.
    fn space(&mut self) {
        self.spaces += 1;
        match self.spaces {
            1 => {}
            2 if matches!(self.prev, None | Some(Class::Newline)) => self.emit(Unit::Indent),
            2 => self.emit(Unit::Gap),
            _ => self.emit(Unit::SpaceMore),
        }
    }

    fn visible(&mut self, c: char, class: Class) {
        let spaces = std::mem::take(&mut self.spaces);
        let spaced = spaces > 0;
        if spaced || !self.prev.is_some_and(|prev| prev.continues_with(class)) {
            self.run = 0;
        }
        let repeated = self.run > 0 && self.prev_char == c;
        match class {
            Class::Lower | Class::Upper | Class::Accented => self.latin(c, class, spaced),
            Class::Digit => self.digit(spaced),
            Class::Punct => self.punct(c, repeated, spaced),
            Class::Newline => self.newline(spaces),
            Class::Tab => self.emit(pick(self.run, [Unit::Tab, Unit::TabSecond, Unit::TabMore])),
            Class::Pieces(script) => self.pieces(c, script, spaced),
            Class::Letter(script) => self.script(script),
            Class::Mark => self.mark(c, repeated, spaced),
            Class::Line => self.line(repeated),
            Class::WideMark => self.emit(Unit::WideMark),
            Class::LatinSymbol => self.emit(Unit::LatinSymbol),
            Class::Symbol => self.emit(Unit::Symbol),
            Class::Dingbat => self.emit(Unit::Dingbat),
            Class::Favorite => self.pictograph(c, Unit::Favorite, spaced),
            Class::Pictograph => self.pictograph(c, Unit::Pictograph, spaced),
            Class::RarePictograph => self.emit(Unit::RarePictograph),
            Class::Joiner => self.emit(Unit::Joiner),
            Class::Selector => self.emit(Unit::Selector),
            Class::Tone => self.emit(Unit::Tone),
            Class::Other2 => self.emit(Unit::Other2),
            Class::Other3 => self.emit(Unit::Other3),
            Class::Other4 => self.emit(Unit::Other4),
            Class::Control | Class::Space => self.emit(Unit::Control),
        }
        self.run += 1;
        self.prev = Some(class);
        self.prev_char = c;
    }

    fn emit(&mut self, unit: Unit) {
        (self.emit)(unit);
    }

    fn newline(&mut self, spaces: usize) {
        self.emit(match (spaces, self.prev) {
            (0, Some(Class::Newline)) => Unit::NewlineMore,
            (0, Some(Class::Punct)) => Unit::NewlineAfterPunct,
            (0, Some(Class::WideMark)) => Unit::NewlineAfterWideMark,
            (0 | 1, _) => Unit::Newline,
            _ => Unit::NewlineMore,
        });
    }

    fn latin(&mut self, c: char, class: Class, spaced: bool) {
        if class == Class::Accented {
            self.extended = c > '\u{ff}' || self.extended && self.accented > 0;
            self.accented = ACCENTED_WORDS;
        }
        if self.run == 0 {
            return self.word(class, spaced);
        }
        match (self.prev, class) {
            (_, Class::Accented) => self.emit(match c {
                ..='\u{ff}' => Unit::Accent,
                ..='\u{36f}' => Unit::AccentExtended,
                _ => Unit::AccentAdditional,
            }),
            (Some(Class::Accented), _) => self.emit(Unit::AfterAccent),
            (Some(Class::Lower), Class::Upper) => self.emit(Unit::Hump),
            (_, Class::Upper) => self.emit(Unit::CAPS[letters::latin(self.prev_char, c)]),
            _ => self.next_letter(c),
        }
    }

    /// A lower-case letter after a letter, both without an accent.
    fn next_letter(&mut self, c: char) {
        let seam = letters::latin(self.prev_char, c);
        let foreign = self.rough == 0 && self.accented > 0;
        self.emit(if foreign {
            Unit::FOREIGN[seam]
        } else {
            Unit::NEXT[self.rough][seam]
        });
        self.roughen(seam);
    }

    /// Scans the first letter of a word of Latin letters.
    fn word(&mut self, class: Class, spaced: bool) {
        let after_digit = !spaced && self.prev == Some(Class::Digit);
        self.rough = usize::from(after_digit || self.extended && self.accented > 0);
        self.accented = self.accented.saturating_sub(1);
        self.emit(match (self.prev, self.prev_char) {
            _ if spaced => Unit::Word,
            (Some(Class::Punct | Class::Mark), _) if self.apostrophe => Unit::WordGlued,
            (Some(Class::Punct), '.' | '_') => Unit::WordGlued,
            (Some(Class::Punct), '/' | '-' | ':' | '=' | ';') => Unit::WordAfterDash,
            (Some(Class::Punct), '(' | '[' | '{' | '<') => Unit::WordAfterOpening,
            (Some(Class::Punct), '"' | '\'' | '`') => Unit::WordAfterQuote,
            (Some(Class::Punct), _) => Unit::WordAfterSign,
            (Some(Class::Digit), _) => Unit::WordAfterDigit,
            (Some(Class::Tab), _) => Unit::WordAfterTab,
            _ => Unit::Word,
        });
        if class == Class::Upper {
            self.emit(Unit::Capital);
        }
    }

    /// Records that the word contains a pair that is often split.
    fn roughen(&mut self, seam: usize) {
        self.rough = (self.rough + seam / 2).min(2);
    }

    fn digit(&mut self, spaced: bool) {
        if spaced {
            self.emit(Unit::DigitSpace);
        }
        self.emit(pick(self.run % 3, [Unit::Digit1, Unit::Digit2, Unit::Digit3]));
    }

    fn punct(&mut self, c: char, repeated: bool, spaced: bool) {
        self.apostrophe = c == '\'' && self.ends_word(spaced);
        if self.run == 0 {
            self.emit(Unit::Punct);
        } else if repeated {
            self.emit(if self.run < 4 { Unit::PunctSame } else { Unit::PunctMore });
        } else {
            self.run = 0;
            self.emit(Unit::PAIRS[puncts::seam(self.prev_char, c)]);
        }
    }

    fn mark(&mut self, c: char, repeated: bool, spaced: bool) {
        self.apostrophe = c == '\u{2019}' && self.ends_word(spaced);
        self.emit(if repeated { Unit::MarkSame } else { Unit::Mark });
    }

    /// Returns whether the current character directly follows a Latin letter.
    fn ends_word(&self, spaced: bool) -> bool {
        !spaced && self.prev.is_some_and(Class::is_latin)
    }

    fn line(&mut self, repeated: bool) {
        self.emit(match self.run {
            0 => Unit::Line,
            _ if !repeated => Unit::LinePair,
            1..4 => Unit::LineSame,
            _ => Unit::LineMore,
        });
    }

    /// Scans a letter of a script whose words are split into pieces.
    fn pieces(&mut self, c: char, script: Script, spaced: bool) {
        let [first, next, part, rare] = Unit::for_pieces(script);
        let is_wide = matches!(script, Script::Han | Script::Kana);
        if spaced && is_wide {
            self.emit(Unit::WideSpace);
        }
        let probes = if script == Script::Han { 3 } else { 2 };
        let starts_word = self.run == 0;
        if !starts_word {
            let piece = self.piece.with(c);
            if piece.is_known(probes) {
                self.piece = piece;
                return self.emit(next);
            }
        }
        let shares_space = starts_word && spaced && !is_wide && script != Script::Thai;
        self.piece = Piece::new(shares_space).with(c);
        self.emit(match starts_word {
            _ if !self.piece.is_known(probes) => rare,
            true => first,
            false => part,
        });
    }

    /// A space before a pictograph usually is part of its token.
    fn pictograph(&mut self, c: char, unit: Unit, spaced: bool) {
        let splits = matches!(c, '\u{1f3c0}'..='\u{1f43f}' | '\u{1f940}'..='\u{1f97f}') || unit == Unit::Favorite;
        if spaced && splits {
            self.emit(Unit::PictographSpace);
        }
        self.emit(unit);
    }

    fn script(&mut self, script: Script) {
        self.emit(pick(self.run.div_ceil(2), Unit::for_script(script)));
    }
}

/// Returns the unit at `index`, or the last one if there are fewer.
fn pick<const N: usize>(index: usize, units: [Unit; N]) -> Unit {
    units[index.min(N - 1)]
}

#[cfg(test)]
mod tests {
    use super::Scanner;
    use super::Unit::{self, *};

    fn units(text: &str) -> Vec<Unit> {
        let mut units = Vec::new();
        let mut scanner = Scanner::new(|unit| units.push(unit));
        text.chars().for_each(|c| scanner.push(c));
        units
    }

    #[test]
    fn splits_a_text_into_units() {
        let check = |text: &str, expected: &[Unit]| assert_eq!(units(text), expected, "{text:?}");
        check("", &[]);
        check(" ", &[]);
        check("in in", &[Word, Plain0, Word, Plain0]);
        check("In.in", &[Word, Capital, Plain0, Punct, WordGlued, Plain0]);
        check("inIn IN", &[Word, Plain0, Hump, Plain0, Word, Capital, Caps0]);
        check(
            "n't n’t 't",
            &[Word, Punct, WordGlued, Word, Mark, WordGlued, Punct, WordAfterQuote],
        );
        check("1234 5", &[Digit1, Digit2, Digit3, Digit1, DigitSpace, Digit1]);
        check("1a", &[Digit1, WordAfterDigit]);
        check("();;", &[Punct, Pair0, Pair0, PunctSame]);
        check("=====", &[Punct, PunctSame, PunctSame, PunctSame, PunctMore]);
        check("a\n\n", &[Word, Newline, NewlineMore]);
        check("; \n;\n", &[Punct, Newline, Punct, NewlineAfterPunct]);
        check("。\r\n", &[WideMark, NewlineAfterWideMark, NewlineMore]);
        check("a   \n", &[Word, Gap, SpaceMore, NewlineMore]);
        check("\n    a", &[Newline, Indent, SpaceMore, SpaceMore, Word]);
        check("\t\t\ta", &[Tab, TabSecond, TabMore, WordAfterTab]);
        check("我们 中", &[HanFirst, HanNext, WideSpace, HanFirst]);
        check("中龘", &[HanFirst, HanRare]);
        check("ですを", &[KanaFirst, KanaNext, KanaBreak]);
        check("안녕 녕", &[HangulFirst, HangulBreak, HangulRare]);
        check("ов ов", &[CyrillicFirst, CyrillicNext, CyrillicFirst, CyrillicNext]);
        check("αααα", &[GreekFirst, GreekNext, GreekNext, GreekLate]);
        check(
            "├──────",
            &[Line, LinePair, LineSame, LineSame, LineMore, LineMore, LineMore],
        );
        check("✈\u{fe0f}👍🏽", &[Dingbat, Selector, Favorite, Tone]);
        check(
            "🐶 🐶 😀",
            &[Pictograph, PictographSpace, Pictograph, PictographSpace, Favorite],
        );
    }

    /// A pair that is often split makes the rest of the word cost more, and nothing else.
    #[test]
    fn a_rare_pair_makes_the_rest_of_the_word_rough() {
        assert_eq!(units("qxin in"), [Word, Plain5, Rough3, Rough0, Word, Plain0]);
        assert_eq!(units("1in"), [Digit1, WordAfterDigit, Uneven0]);
    }

    /// An accent makes the next words foreign, until enough others have followed.
    #[test]
    fn accents_indicate_the_language() {
        assert_eq!(units("é in"), [Word, Word, Foreign0]);
        assert_eq!(units("ł in"), [Word, Word, Uneven0]);
        assert_eq!(units("é ł in"), [Word, Word, Word, Uneven0]);
        assert_eq!(units("ł é in"), [Word, Word, Word, Uneven0]);
        let later = units(&format!("ł {} é in", "i ".repeat(20)));
        assert_eq!(later[later.len() - 2..], [Word, Foreign0]);
        let long_after = units(&format!("é {}in", "i ".repeat(20)));
        assert_eq!(long_after.last(), Some(&Plain0));
    }
}
