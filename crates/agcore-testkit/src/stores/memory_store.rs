//! The behaviors of memory stores. Each function checks one of them and panics with the reason if it fails.

#![expect(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a check panics if it fails"
)]

mod opened;
mod eviction;
mod filters;
mod items;

pub use self::{
    eviction::{
        a_clock_that_goes_backwards_does_no_harm, evicts_by_capacity, evicts_by_recall_value,
        expired_items_do_not_exist, reserved_items_are_not_evicted,
    },
    filters::{
        erases_a_user, filters_by_metadata, filters_by_owner, filters_by_time, filters_by_validity,
        lists_in_a_stable_order, pages_through_a_list,
    },
    items::{
        concurrent_saves_are_all_kept, deletes, deletes_by_prefix, keeps_every_member, keeps_large_content,
        keeps_tenants_apart, refuses_unacceptable_input, saves_all_or_none, saves_and_replaces,
        special_characters_are_data, supersedes_facts,
    },
};
