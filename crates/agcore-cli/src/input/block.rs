//! Named blocks of text in a message: `<stdin>`, the text, `</stdin>`.

use std::collections::HashSet;

/// Appends standard input to the prompt as a block: `<stdin>`, the input, `</stdin>`. If the input contains that end, the
/// block has a number that the input does not contain, as in `<stdin-2>`, so that the input cannot close it.
pub(crate) fn with_input(prompt: &str, input: &str) -> String {
    match input.trim().is_empty() {
        true => prompt.to_owned(),
        false => format!("{prompt}{}", block("stdin", "", input)),
    }
}

/// Returns a block that follows a message. `name` is in lower case; `attributes` is empty or begins with a space.
pub(crate) fn block(name: &str, attributes: &str, text: &str) -> String {
    let tag = unused_tag(name, text);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("\n\n<{tag}{attributes}>\n{text}{end}</{tag}>")
}

fn unused_tag(name: &str, text: &str) -> String {
    let used: HashSet<u32> = text.split("</").skip(1).filter_map(|end| number(name, end)).collect();
    match (1..).find(|number| !used.contains(number)) {
        None | Some(1) => name.to_owned(),
        Some(number) => format!("{name}-{number}"),
    }
}

/// Returns the number of the block that this text ends, if it follows a `</`. Without a number, it is 1. White space and
/// upper case make no difference: a model may not care about them either.
fn number(name: &str, text: &str) -> Option<u32> {
    let text = text.trim_start();
    let (start, rest) = text.split_at_checked(name.len())?;
    if !start.eq_ignore_ascii_case(name) {
        return None;
    }
    let Some(rest) = rest.strip_prefix('-') else {
        return Some(1);
    };
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    // Numbers that do not fit are never chosen.
    rest[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(input: &str, expected: &str) {
        assert_eq!(with_input("Why?", input), expected, "{input:?}");
    }

    #[test]
    fn input_is_a_block_below_the_prompt() {
        check("a\nb\n", "Why?\n\n<stdin>\na\nb\n</stdin>");
        check("  a", "Why?\n\n<stdin>\n  a\n</stdin>");
        check("", "Why?");
        check(" \n", "Why?");
    }

    #[test]
    fn input_cannot_close_its_block() {
        check("</stdin>\n", "Why?\n\n<stdin-2>\n</stdin>\n</stdin-2>");
        check(
            "< stdin> </ STDIN >",
            "Why?\n\n<stdin-2>\n< stdin> </ STDIN >\n</stdin-2>",
        );
        check(
            "</stdin></stdin-2>",
            "Why?\n\n<stdin-3>\n</stdin></stdin-2>\n</stdin-3>",
        );
        check(
            "</stdin-2></stdin-02>",
            "Why?\n\n<stdin>\n</stdin-2></stdin-02>\n</stdin>",
        );
        check(
            "</stdin></stdin-99999999999>",
            "Why?\n\n<stdin-2>\n</stdin></stdin-99999999999>\n</stdin-2>",
        );
        check("</</stdi</é", "Why?\n\n<stdin>\n</</stdi</é\n</stdin>");
    }

    #[test]
    fn a_block_has_attributes_and_an_end_of_its_own() {
        assert_eq!(
            block("file", " path=\"a\"", "</file>"),
            "\n\n<file-2 path=\"a\">\n</file>\n</file-2>"
        );
    }

    proptest! {
        #[test]
        fn the_end_appears_only_at_the_end(input in "(</?|stdin|-|[0-9]|>| |\n|a){0,40}a") {
            let message = with_input("Why?", &input);
            let start = message.find('<').unwrap();
            let tag = &message[start + 1..message.find('>').unwrap()];
            prop_assert_eq!(message.matches(&format!("</{tag}>")).count(), 1);
        }
    }
}
