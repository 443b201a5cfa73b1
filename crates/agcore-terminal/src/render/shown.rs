//! Shows commands, arguments, names and differences whole, before a person approves them.

use std::mem;

use agcore_chat::text::visible;
use anstyle::Style;
use unicode_width::UnicodeWidthChar;

use super::{layout::window_width, text::TAB};

/// Precedes the lines of a value after the first. No text contains it, because control characters are escaped.
pub const CONTINUED: char = '\u{1}';

/// The fewest columns of a line without its indent, however narrow the window is.
const MIN_WIDTH: usize = 8;

/// The Cyrillic, Greek and Armenian letters that look like the letters of ASCII.
const LOOK_ALIKES: &str = "АВЕЅІЈКМНОРСТУХҮԌԚԜаеѕіјорсуүһхԁԛԝӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿαιονρυχϲϳոսօցհ";

/// Shows a text on one line. Tabs stay tabs. Every other character that is invisible, looks like a space without being one, or
/// changes the direction of writing, is escaped, and so are letters of other scripts that only look like those of the Latin word in
/// which they are.
pub fn shown_line(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for word in line.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let is_deceptive = is_deceptive(word);
        for c in word.chars() {
            match c {
                '\t' => shown.push(c),
                c if is_blank(c) || is_deceptive && LOOK_ALIKES.contains(c) => shown.extend(c.escape_unicode()),
                c => shown.push_str(&visible(c.encode_utf8(&mut [0; 4]))),
            }
        }
    }
    shown
}

/// Shows a text with its line breaks and an indent, each line as by [`shown_line`]. What does not fit into a line of the window
/// continues two columns further to the right.
pub fn shown_block(text: &str, indent: usize) -> String {
    let width = window_width();
    shown_lines(text)
        .map(|line| indented(&line, indent, Style::new(), width))
        .collect()
}

/// Shows a line with an indent, and breaks it at this width, so that no part of it is where only the program itself writes.
/// Further lines are indented by two more columns. No character is added or left out otherwise.
pub(super) fn indented(line: &str, indent: usize, style: Style, width: usize) -> String {
    let (mut out, mut part) = (String::new(), String::new());
    let (mut column, mut start) = (indent, indent);
    let mut end = |part: &mut String, start: usize| {
        let text = mem::take(part);
        out += &format!("{}{style}{text}{style:#}\n", " ".repeat(start));
    };
    let after = |column: usize, c: char| match c {
        '\t' => (column / TAB + 1) * TAB,
        c => column + c.width().unwrap_or(0),
    };
    for c in line.chars() {
        if after(column, c) > width.max(start + MIN_WIDTH) && !part.is_empty() {
            end(&mut part, start);
            start = indent + 2;
            column = start;
        }
        column = after(column, c);
        part.push(c);
    }
    end(&mut part, start);
    out
}

/// Shows a text with its line breaks, each line as by [`shown_line`]. A carriage return before a line break is escaped, too.
pub fn shown_lines(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split('\n').map(shown_line)
}

/// Shows a text, with [`CONTINUED`] before each line after the first.
pub fn shown_value(text: &str) -> String {
    shown_lines(text).collect::<Vec<_>>().join(&format!("\n{CONTINUED}"))
}

/// Returns whether a word looks Latin, but some of its letters belong to another script. A word in which other letters of that
/// script are seen is not misleading.
fn is_deceptive(word: &str) -> bool {
    let is_foreign = |c: &char| matches!(c, '\u{370}'..='\u{58f}');
    let mut foreign = word.chars().filter(is_foreign).peekable();
    word.contains(|c: char| c.is_ascii_alphabetic())
        && foreign.peek().is_some()
        && foreign.all(|c| LOOK_ALIKES.contains(c))
}

/// Returns whether a character looks like a space, but is another one for a shell.
fn is_blank(c: char) -> bool {
    matches!(
        c,
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{2800}' | '\u{3000}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_hidden_and_nothing_is_lost() {
        assert_eq!(shown_line("a\tb   c"), "a\tb   c");
        assert_eq!(shown_line("a\u{a0}b\u{2800}\u{3000}"), "a\\u{a0}b\\u{2800}\\u{3000}");
        assert_eq!(
            shown_line("a\u{1b}[2J\u{202e}\u{200b}\r"),
            "a\\u{1b}[2J\\u{202e}\\u{200b}\\u{d}"
        );
        assert_eq!(shown_line("a\u{301} 字 é"), "a\u{301} 字 é");
        assert_eq!(shown_value("true # a\ntouch b\u{1}"), "true # a\n\u{1}touch b\\u{1}");
        let long = "x".repeat(10_000);
        assert_eq!(shown_line(&long), long);
    }

    #[test]
    fn letters_that_only_look_latin_are_escaped() {
        assert_eq!(shown_line("cаt /еtc"), "c\\u{430}t /\\u{435}tc");
        assert_eq!(shown_line("gοοgle.com"), "g\\u{3bf}\\u{3bf}gle.com");
        assert_eq!(shown_line("rm -rf /tmp/а1b"), "rm -rf /tmp/\\u{430}1b");
        for line in [
            "echo Привет, мир",
            "cat отчёт.txt данные_v2.csv",
            "USB-порт и IP-адрес",
            "Gбайт",
            "τί κάνεις",
            "Δx = λy, 5 μm, αβ",
            "ls 文件夹 a字b",
            "café naïve",
            "о",
        ] {
            assert_eq!(shown_line(line), line);
        }
    }

    #[test]
    fn long_lines_continue_indented() {
        let shown = |line: &str| indented(line, 2, Style::new(), 12);
        assert_eq!(shown("+short"), "  +short\n");
        assert_eq!(shown(""), "  \n");
        assert_eq!(shown("+123456789abcdefghij"), "  +123456789\n    abcdefgh\n    ij\n");
        // Wide characters and tabs take more columns.
        assert_eq!(shown("+一二三四五"), "  +一二三四\n    五\n");
        assert_eq!(shown("+\tab\tc"), "  +\tab\n    \tc\n");
        // However narrow the window is.
        assert_eq!(indented("0123456789", 2, Style::new(), 1), "  01234567\n    89\n");
        let long = "x y  ".repeat(100);
        let joined: String = shown(&long)
            .lines()
            .map(|line| line[2..].strip_prefix("  ").unwrap_or(&line[2..]))
            .collect();
        assert_eq!(joined.matches(['x', 'y']).count(), 200);
    }
}
