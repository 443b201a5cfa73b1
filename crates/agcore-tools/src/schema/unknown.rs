//! [`unknown_member_message`]: the message about a member that an object may not have.

use agcore_chat::text::nearest_names;

/// The number of members that a message lists.
const MAX_LISTED: usize = 12;

/// Returns the message about a member that is not among the known ones.
pub(crate) fn unknown_member_message<N: AsRef<str>>(name: &str, known: impl IntoIterator<Item = N>) -> String {
    let known: Vec<N> = known.into_iter().collect();
    let near = nearest_names(name, known.iter().map(AsRef::as_ref), 1);
    if let [near] = near.as_slice() {
        return format!("unknown member; did you mean {near}?");
    }
    let mut names: Vec<&str> = known.iter().take(MAX_LISTED).map(AsRef::as_ref).collect();
    match known.len() {
        0 => return "unknown member; the object has none".to_owned(),
        len if len > MAX_LISTED => names.push("…"),
        _ => names.sort_unstable(),
    }
    format!("unknown member; expected {}", names.join(", "))
}
