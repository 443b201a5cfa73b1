//! The check of commit messages.

use crate::fixture::Fixture;

fn repository() -> Fixture {
    let workspace = Fixture::new();
    workspace.write(".gitignore", "target\n");
    workspace.git(&["init", "--quiet", "--initial-branch", "main"]);
    workspace.git(&["add", "."]);
    workspace.git(&["commit", "--quiet", "--message", "The first one."]);
    workspace
}

fn commit(workspace: &Fixture, message: &str) {
    workspace.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
}

#[test]
fn is_skipped_without_a_repository_or_a_base() {
    let skipped = Fixture::new().xtask("tidy commits");
    skipped.passes_with(&["skipped  tidy commits: this is not a git repository"]);
    let skipped = repository().xtask("tidy commits");
    skipped.passes_with(&["skipped  tidy commits: the history has neither origin/main nor"]);
}

#[test]
fn checks_the_commits_that_are_not_on_the_base() {
    let workspace = repository();
    workspace.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    commit(
        &workspace,
        "feat(llm): read usage of cached tokens\n\nThe price depends on it.",
    );
    workspace
        .xtask("tidy commits")
        .passes_with(&["ok       tidy commits (1 in origin/main..HEAD)"]);

    commit(&workspace, "fix(llm): the reader stops");
    workspace.xtask("tidy commits").fails(
        "tidy commits (2 in origin/main..HEAD)",
        &[
            "`the` is not an imperative: fix(llm): the reader stops",
            "the body is empty",
        ],
    );
    workspace.xtask("tidy commits --range HEAD~2..HEAD~1").passes();
}

#[test]
fn merges_are_exempt() {
    let workspace = repository();
    workspace.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace.git(&["checkout", "--quiet", "-b", "topic"]);
    commit(&workspace, "fix: read it\n\nWhy.");
    workspace.git(&["checkout", "--quiet", "main"]);
    workspace.git(&[
        "merge",
        "--quiet",
        "--no-ff",
        "--message",
        "Merge branch 'topic'",
        "topic",
    ]);
    workspace.xtask("tidy commits").passes();
}
