//! [`title_of`].

/// The maximum length of a title, in characters.
const MAX_CHARS: usize = 64;

/// Returns the title of a session whose first message is this text: without surrounding whitespace, on one line, and at most
/// 64 characters long. Without any text, the placeholder is the title.
///
/// ```
/// use agcore_session::title_of;
///
/// assert_eq!(title_of("  What is\n\nthe weather? ", "New session"), "What is the weather?");
/// assert_eq!(title_of(" \n", "新会话"), "新会话");
/// assert_eq!(title_of(&"长".repeat(100), "新会话").chars().count(), 64);
/// ```
pub fn title_of(text: &str, placeholder: &str) -> String {
    let mut title = String::new();
    let mut length = 0;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let separator = (length > 0).then_some(' ');
        for character in separator.into_iter().chain(line.chars()) {
            if length == MAX_CHARS {
                title.truncate(title.trim_end().len());
                return title;
            }
            title.push(if character.is_control() { ' ' } else { character });
            length += 1;
        }
    }
    if title.is_empty() {
        placeholder.to_owned()
    } else {
        title
    }
}
