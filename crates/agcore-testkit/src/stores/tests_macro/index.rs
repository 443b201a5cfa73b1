//! The lists of behaviors of indexes, and the macros that make one test of each.

/// Makes one test of each behavior of a [`TextIndex`](agcore_memory::search::TextIndex). The argument is an expression of a type
/// that implements [`TextIndexSubject`](crate::stores::TextIndexSubject). Requires tokio with `macros` and `rt`.
#[macro_export]
macro_rules! text_index_tests {
    ($subject:expr) => {
        $crate::__text_index_behaviors!(__store_tests, $subject);
    };
}

/// Calls a macro with the names of the behaviors. Not part of the public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __text_index_behaviors {
    ($macro:ident $(, $argument:expr)?) => {
        $crate::$macro! {
            text_index,
            [
                finds_words_of_all_scripts,
                ranks_by_relevance,
                queries_are_plain_text,
                limits_the_results,
                large_documents_are_found,
                replaces_and_removes,
                changes_apply_only_where_they_belong,
                a_reset_forgets_everything,
                keeps_tenants_apart,
                of_two_writers_one_wins,
                follows_a_store,
            ]
            $(, $argument)?
        }
    };
}

/// Makes one test of each behavior of a [`VectorIndex`](agcore_memory::search::VectorIndex). The argument is an expression of a
/// type that implements [`VectorIndexSubject`](crate::stores::VectorIndexSubject). Requires tokio with `macros` and `rt`.
#[macro_export]
macro_rules! vector_index_tests {
    ($subject:expr) => {
        $crate::__vector_index_behaviors!(__store_tests, $subject);
    };
}

/// Calls a macro with the names of the behaviors. Not part of the public API.
#[doc(hidden)]
#[macro_export]
macro_rules! __vector_index_behaviors {
    ($macro:ident $(, $argument:expr)?) => {
        $crate::$macro! {
            vector_index,
            [
                finds_the_most_similar,
                replaces_and_removes,
                refuses_unusable_vectors,
                a_reset_forgets_everything,
                keeps_tenants_apart,
            ]
            $(, $argument)?
        }
    };
}
