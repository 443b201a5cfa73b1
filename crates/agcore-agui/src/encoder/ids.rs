//! [`Ids`]: ids that are unique within a run.

use std::collections::HashSet;

use agcore_chat::Text;

/// The ids that a run has used.
#[derive(Debug, Clone, Default)]
pub(super) struct Ids(HashSet<Text>);

impl Ids {
    /// Returns `base`, or `base` with a number if the run has used it.
    pub(super) fn unique(&mut self, base: &str) -> Text {
        let mut id = Text::from(base);
        let mut number = 1_u64;
        while !self.0.insert(id.clone()) {
            number += 1;
            id = Text::from(format!("{base}#{number}"));
        }
        id
    }

    /// Marks an id as used.
    pub(super) fn insert(&mut self, id: &str) {
        self.0.insert(Text::from(id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_appended_from_the_second_use() {
        let mut ids = Ids::default();
        ids.insert("a#2");
        let made: Vec<Text> = (0..3).map(|_| ids.unique("a")).collect();
        assert_eq!(made, ["a", "a#3", "a#4"].map(Text::from));
    }
}
