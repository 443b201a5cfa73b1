//! The lists of the behaviors of stores of knowledge and of graphs, and the macros that make one test of each.

/// Makes one test of each behavior of a [`KnowledgeStore`](agcore_memory::knowledge::KnowledgeStore). The argument is an expression
/// of a type that implements [`KnowledgeStoreSubject`](crate::stores::KnowledgeStoreSubject). Requires tokio with `macros` and
/// `rt`.
#[macro_export]
macro_rules! knowledge_store_tests {
    ($subject:expr) => {
        $crate::__knowledge_store_behaviors!(__store_tests, $subject);
    };
}

/// Calls a macro with the names of the behaviors. Not part of the public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __knowledge_store_behaviors {
    ($macro:ident $(, $argument:expr)?) => {
        $crate::$macro! {
            knowledge,
            [
                saves_and_replaces,
                saves_all_or_none,
                adds_only_what_is_new,
                updates_only_what_exists,
                puts_only_the_expected_version,
                writers_with_versions_lose_nothing,
                keeps_every_member,
                keeps_tenants_apart,
                deletes,
                special_characters_are_data,
                refuses_unacceptable_pages,
                keeps_large_content,
                erases_a_user,
                lists_in_a_stable_order,
                pages_through_a_list,
                filters_pages,
                counts_tags,
                follows_references,
                counts_recalls,
                changes_lead_to_every_state,
                changes_are_paged,
                deletions_are_changes,
                unknown_positions_lead_to_everything,
                erasure_resets_the_sequence,
                sixty_four_writers_leave_no_gaps,
            ]
            $(, $argument)?
        }
    };
}

/// Makes one test of each behavior of a [`SourceStore`](agcore_memory::knowledge::SourceStore). The argument is an expression of a
/// type that implements [`SourceStoreSubject`](crate::stores::SourceStoreSubject). Requires tokio with `macros` and `rt`.
#[macro_export]
macro_rules! source_store_tests {
    ($subject:expr) => {
        $crate::__source_store_behaviors!(__store_tests, $subject);
    };
}

/// Calls a macro with the names of the behaviors. Not part of the public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __source_store_behaviors {
    ($macro:ident $(, $argument:expr)?) => {
        $crate::$macro! {
            sources,
            [
                saves_sources_with_their_pages,
                keeps_pages_that_stay_the_same,
                replaces_the_pages_of_a_source,
                saves_a_source_as_a_whole_or_not,
                takes_over_pages_without_a_source,
                deletes_sources_with_their_pages,
                lists_sources_in_pages,
                keeps_sources_of_tenants_apart,
                indexes_follow_sources,
                erases_the_sources_of_a_user,
            ]
            $(, $argument)?
        }
    };
}

/// Makes one test of each behavior of a [`KnowledgeGraph`](agcore_memory::graph::KnowledgeGraph). The argument is an expression of
/// a type that implements [`KnowledgeGraphSubject`](crate::stores::KnowledgeGraphSubject). Requires tokio with `macros` and `rt`.
#[macro_export]
macro_rules! knowledge_graph_tests {
    ($subject:expr) => {
        $crate::__knowledge_graph_behaviors!(__store_tests, $subject);
    };
}

/// Calls a macro with the names of the behaviors. Not part of the public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __knowledge_graph_behaviors {
    ($macro:ident $(, $argument:expr)?) => {
        $crate::$macro! {
            graph,
            [
                saves_and_replaces,
                saves_all_or_none,
                keeps_every_member,
                keeps_tenants_apart,
                refuses_unacceptable_input,
                finds_by_keywords,
                counts_tags,
                erases_a_user,
                relations_need_their_entities,
                relations_replace_their_weight,
                removing_an_entity_removes_its_relations,
                scores_by_distance_and_weight,
                follows_directions_and_types,
                cycles_end,
            ]
            $(, $argument)?
        }
    };
}
