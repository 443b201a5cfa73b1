//! The behaviors of indexes of texts. Each function checks one of them and panics with the reason if it fails.

#![expect(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a check panics if it fails"
)]

mod opened;
mod queries;
mod changes;

pub use self::{
    changes::{
        a_reset_forgets_everything, changes_apply_only_where_they_belong, follows_a_store, keeps_tenants_apart,
        of_two_writers_one_wins, replaces_and_removes,
    },
    queries::{
        finds_words_of_all_scripts, large_documents_are_found, limits_the_results, queries_are_plain_text,
        ranks_by_relevance,
    },
};
