//! The behaviors of knowledge graphs. Each function checks one of them and panics with the reason if it fails.

#![expect(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a check panics if it fails"
)]

mod entities;
mod relations;

pub use self::{
    entities::{
        counts_tags, erases_a_user, finds_by_keywords, keeps_every_member, keeps_tenants_apart,
        refuses_unacceptable_input, saves_all_or_none, saves_and_replaces,
    },
    relations::{
        cycles_end, follows_directions_and_types, relations_need_their_entities, relations_replace_their_weight,
        removing_an_entity_removes_its_relations, scores_by_distance_and_weight,
    },
};
