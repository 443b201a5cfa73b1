//! Shows that each check of the conformance suites can fail: for each behavior there is a mutant, a store with one defect, that
//! does not pass.

mod memory_store;
mod knowledge;
mod graph;

use std::{
    fmt::Debug,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use agcore_memory::{Clock, EvictionConfig, MemoryStore, graph::KnowledgeGraph, knowledge::KnowledgeStore};
use agcore_testkit::stores::{
    KNOWLEDGE_GRAPH, KNOWLEDGE_STORE, KnowledgeGraphSubject, KnowledgeStoreSubject, MEMORY_STORE, MEMORY_STORE_FAULTS,
    MemoryStoreSubject, StoreBehavior, StoreSubject,
};
use async_trait::async_trait;

use self::{
    graph::{GraphDefect, MutantGraph},
    knowledge::{KnowledgeDefect, MutantKnowledge},
    memory_store::{MutantStore, StoreDefect},
};

impl StoreSubject for StoreDefect {}

#[async_trait]
impl MemoryStoreSubject for StoreDefect {
    async fn memory_store(&self, clock: Arc<dyn Clock>, eviction: EvictionConfig) -> Arc<dyn MemoryStore> {
        Arc::new(MutantStore::new(*self, clock, eviction))
    }
}

impl StoreSubject for KnowledgeDefect {}

#[async_trait]
impl KnowledgeStoreSubject for KnowledgeDefect {
    async fn knowledge_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn KnowledgeStore> {
        Arc::new(MutantKnowledge::new(*self, clock))
    }
}

impl StoreSubject for GraphDefect {}

#[async_trait]
impl KnowledgeGraphSubject for GraphDefect {
    async fn knowledge_graph(&self, clock: Arc<dyn Clock>) -> Arc<dyn KnowledgeGraph> {
        Arc::new(MutantGraph::new(*self, clock))
    }
}

fn passes<S: ?Sized>(behavior: &StoreBehavior<S>, subject: &S) -> bool {
    let check = || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(behavior.check(subject));
    };
    catch_unwind(AssertUnwindSafe(check)).is_ok()
}

/// Checks that the table has each behavior, and that a store with the defect beside it does not pass.
fn check<S: ?Sized, D: Copy + Debug>(behaviors: &[StoreBehavior<S>], table: &[(&str, D)], subject: impl Fn(&D) -> &S) {
    let names: Vec<&str> = behaviors.iter().map(StoreBehavior::name).collect();
    let covered: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, covered, "the table must list the behaviors in their order");
    for (behavior, (name, defect)) in behaviors.iter().zip(table) {
        assert!(!passes(behavior, subject(defect)), "{name} accepts {defect:?}");
    }
}

#[test]
fn each_check_of_memory_stores_can_fail() {
    use StoreDefect as D;

    check(
        MEMORY_STORE,
        &[
            ("saves_and_replaces", D::ReplacingChangesCreation),
            ("saves_all_or_none", D::SavesOneByOne),
            ("keeps_every_member", D::LosesSource),
            ("keeps_tenants_apart", D::HasOneTenant),
            ("deletes", D::KeepsDeleted),
            ("deletes_by_prefix", D::DeletesTooMuch),
            ("special_characters_are_data", D::PrefixIsPattern),
            ("refuses_unacceptable_input", D::RepairsInput),
            ("keeps_large_content", D::CutsContent),
            ("lists_in_a_stable_order", D::ListsById),
            ("pages_through_a_list", D::CountsThePage),
            ("filters_by_time", D::SinceIsInclusive),
            ("filters_by_metadata", D::ComparesTexts),
            ("filters_by_owner", D::IgnoresLine),
            ("filters_by_validity", D::EndIsValid),
            ("supersedes_facts", D::EndIsValid),
            ("erases_a_user", D::ErasesOneLine),
            ("expired_items_do_not_exist", D::NeverEvicts),
            ("evicts_by_capacity", D::NeverEvicts),
            ("evicts_by_recall_value", D::IgnoresRecalls),
            ("reserved_items_are_not_evicted", D::EvictsReserved),
            ("a_clock_that_goes_backwards_does_no_harm", D::DropsTheFuture),
            ("concurrent_saves_are_all_kept", D::LosesConcurrentSaves),
        ],
        |defect| defect,
    );
}

#[test]
fn each_check_of_knowledge_stores_can_fail() {
    use KnowledgeDefect as D;

    check(
        KNOWLEDGE_STORE,
        &[
            ("saves_and_replaces", D::ReplacingChangesCreation),
            ("saves_all_or_none", D::SavesOneByOne),
            ("adds_only_what_is_new", D::AddReplaces),
            ("updates_only_what_exists", D::UpdateCreates),
            ("puts_only_the_expected_version", D::IgnoresVersions),
            ("writers_with_versions_lose_nothing", D::IgnoresVersions),
            ("keeps_every_member", D::LosesReferences),
            ("keeps_tenants_apart", D::HasOneTenant),
            ("deletes", D::KeepsDeleted),
            ("special_characters_are_data", D::PrefixIsPattern),
            ("refuses_unacceptable_pages", D::RepairsInput),
            ("keeps_large_content", D::CutsContent),
            ("erases_a_user", D::ErasesOneLine),
            ("lists_in_a_stable_order", D::ListsById),
            ("pages_through_a_list", D::CountsThePage),
            ("filters_pages", D::AnyTagIsEnough),
            ("counts_tags", D::SortsTagsByName),
            ("follows_references", D::LinksNeedATarget),
            ("counts_recalls", D::CountsRecallsOnce),
            ("changes_lead_to_every_state", D::ChangesSkipOne),
            ("changes_are_paged", D::IgnoresTheLimit),
            ("deletions_are_changes", D::ForgetsDeletions),
            ("unknown_positions_lead_to_everything", D::TrustsEveryPosition),
            ("erasure_resets_the_sequence", D::ErasureIsSilent),
            ("sixty_four_writers_leave_no_gaps", D::LosesConcurrentSaves),
        ],
        |defect| defect,
    );
}

#[test]
fn each_check_of_knowledge_graphs_can_fail() {
    use GraphDefect as D;

    check(
        KNOWLEDGE_GRAPH,
        &[
            ("saves_and_replaces", D::ReplacingRemoves),
            ("saves_all_or_none", D::SavesOneByOne),
            ("keeps_every_member", D::LosesTheLine),
            ("keeps_tenants_apart", D::HasOneTenant),
            ("refuses_unacceptable_input", D::RepairsWeights),
            ("finds_by_keywords", D::FindsAllEqually),
            ("counts_tags", D::CountsTagsOnce),
            ("erases_a_user", D::ErasesOneLine),
            ("relations_need_their_entities", D::CreatesEntities),
            ("relations_replace_their_weight", D::KeepsTheFirstWeight),
            ("removing_an_entity_removes_its_relations", D::KeepsRelations),
            ("scores_by_distance_and_weight", D::IgnoresWeights),
            ("follows_directions_and_types", D::IgnoresDirections),
            ("cycles_end", D::ReturnsToTheStart),
        ],
        |defect| defect,
    );
}

#[test]
fn each_check_of_faults_can_fail() {
    check(
        MEMORY_STORE_FAULTS,
        &[
            ("survives_failed_calls", StoreDefect::KeepsDeleted),
            ("repeated_writes_have_one_effect", StoreDefect::AddsToContent),
            ("abandoned_saves_are_whole", StoreDefect::SavesOneByOne),
            ("delayed_saves_keep_their_order", StoreDefect::ReplacingChangesCreation),
        ],
        |defect| defect,
    );
}
