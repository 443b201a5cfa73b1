//! The behaviors of knowledge stores. Each function checks one of them and panics with the reason if it fails.

#![expect(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a check panics if it fails"
)]

mod opened;
mod pages;
mod versions;
mod lists;
mod changes;

pub use self::{
    changes::{
        changes_are_paged, changes_lead_to_every_state, deletions_are_changes, erasure_resets_the_sequence,
        sixty_four_writers_leave_no_gaps, unknown_positions_lead_to_everything,
    },
    lists::{
        counts_recalls, counts_tags, filters_pages, follows_references, lists_in_a_stable_order, pages_through_a_list,
    },
    pages::{
        adds_only_what_is_new, deletes, erases_a_user, keeps_every_member, keeps_large_content, keeps_tenants_apart,
        refuses_unacceptable_pages, saves_all_or_none, saves_and_replaces, special_characters_are_data,
        updates_only_what_exists,
    },
    versions::{puts_only_the_expected_version, writers_with_versions_lose_nothing},
};
