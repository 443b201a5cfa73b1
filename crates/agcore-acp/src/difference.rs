//! [`difference`]: a change of a file as a text, for one that is too large to be sent as a whole.

use agcore_chat::text::visible;

/// The number of lines that are shown around a change.
const CONTEXT: usize = 3;

/// Returns a unified difference with one part, from the first line that differs to the last.
pub(crate) fn difference(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (lines(before), lines(after));
    let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = rest.take_while(|(old, new)| old == new).count();
    let (first, shown_end) = (start.saturating_sub(CONTEXT), end.min(CONTEXT));
    let old_end = old.len() - end;
    let mut text = format!(
        "@@ -{},{} +{},{} @@\n",
        first + 1,
        old_end + shown_end - first,
        first + 1,
        new.len() - end + shown_end - first
    );
    let mut add = |sign: char, lines: &[&str]| {
        for line in lines {
            text.push(sign);
            text.push_str(&visible(line));
            text.push('\n');
        }
    };
    add(' ', &old[first..start]);
    add('-', &old[start..old_end]);
    add('+', &new[start..new.len() - end]);
    add(' ', &old[old_end..old_end + shown_end]);
    text
}

/// Returns the lines of a text, with carriage returns, which may be all that changes.
fn lines(text: &str) -> Vec<&str> {
    text.split_terminator('\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_the_lines_that_differ_and_some_around_them() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        assert_eq!(
            difference(before, &before.replace('5', "five\nV\u{202e}")),
            "@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+V\\u{202e}\n 6\n 7\n 8\n"
        );
        assert_eq!(difference("", "new\n"), "@@ -1,0 +1,1 @@\n+new\n");
        assert_eq!(difference("a\na\n", "a\n"), "@@ -1,2 +1,1 @@\n a\n-a\n");
        assert_eq!(difference("a\r\n", "a\n"), "@@ -1,1 +1,1 @@\n-a\\u{d}\n+a\n");
        assert_eq!(difference("same\n", "same\n"), "@@ -1,1 +1,1 @@\n same\n");
    }
}
