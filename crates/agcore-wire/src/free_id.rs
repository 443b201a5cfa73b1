//! Ids of calls that no other call has.

/// Returns the first of the candidates that is not taken; an endless iterator always has one.
pub(crate) fn first_free(candidates: impl IntoIterator<Item = String>, is_taken: impl Fn(&str) -> bool) -> String {
    let mut candidates = candidates.into_iter();
    candidates.find(|id| !is_taken(id)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_ids_that_are_taken() {
        let numbered = || (0..).map(|number| format!("call_{number}"));
        assert_eq!(first_free(numbered(), |_| false), "call_0");
        assert_eq!(first_free(numbered(), |id| ["call_0", "call_1"].contains(&id)), "call_2");
    }
}
