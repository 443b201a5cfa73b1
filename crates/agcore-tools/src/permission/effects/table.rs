//! [`PROGRAMS`]: the options of each program.

/// The options that make a program, or one of its subcommands, write files or run commands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program {
    pub(super) name: &'static str,
    /// The subcommand for which the entry is, or `None` for all.
    pub(super) subcommand: Option<&'static str>,
    /// Letters of short options, alone or among others. `+` stands for words that begin with it.
    pub(super) short: &'static str,
    /// Options with two dashes. A beginning of one counts as well.
    pub(super) long: &'static [&'static str],
    /// Whole words with one dash.
    pub(super) single: &'static [&'static str],
    /// Whether a beginning of these counts, too.
    pub(super) is_abbreviated: bool,
    /// Whole words without a dash.
    pub(super) words: &'static [&'static str],
    /// The number of operands from which one more is an output.
    pub(super) operands: Option<usize>,
}

/// An entry without any options.
const NONE: Program = Program {
    name: "",
    subcommand: None,
    short: "",
    long: &[],
    single: &[],
    is_abbreviated: false,
    words: &[],
    operands: None,
};

const fn program(name: &'static str, short: &'static str, long: &'static [&'static str]) -> Program {
    Program {
        name,
        short,
        long,
        ..NONE
    }
}

const fn single(name: &'static str, single: &'static [&'static str]) -> Program {
    Program { name, single, ..NONE }
}

const fn git(subcommand: &'static str, short: &'static str, long: &'static [&'static str]) -> Program {
    Program {
        name: "git",
        subcommand: Some(subcommand),
        short,
        long,
        ..NONE
    }
}

const fn git_words(subcommand: &'static str, words: &'static [&'static str]) -> Program {
    Program {
        words,
        ..git(subcommand, "", &[])
    }
}

/// The programs of the table.
pub(super) const PROGRAMS: &[Program] = &[
    // Settings and other repositories name programs that git runs.
    Program {
        name: "git",
        single: &["-c", "-C"],
        long: &[
            "--config-env",
            "--exec-path",
            "--git-dir",
            "--work-tree",
            "--output",
            "--output-directory",
            "--ext-diff",
            "--textconv",
            "--filters",
            "--upload-pack",
            "--receive-pack",
            "--exec",
            "--open-files-in-pager",
            "--extcmd",
            "--edit",
            "--edit-description",
        ],
        ..NONE
    },
    git("grep", "O", &[]),
    git("archive", "o", &[]),
    git("format-patch", "o", &[]),
    git("bundle", "", &["--"]),
    git("clone", "uc", &["--config", "--template"]),
    git("fetch", "", &["--upload-pack"]),
    git("rebase", "x", &[]),
    git("difftool", "xt", &["--tool"]),
    git("mergetool", "t", &["--tool"]),
    git(
        "branch",
        "dDmMcCfu",
        &[
            "--delete",
            "--move",
            "--copy",
            "--force",
            "--set-upstream-to",
            "--unset-upstream",
        ],
    ),
    git(
        "tag",
        "dfasmFu",
        &["--delete", "--force", "--annotate", "--sign", "--message", "--file"],
    ),
    git_words(
        "remote",
        &[
            "add",
            "remove",
            "rm",
            "rename",
            "set-url",
            "set-head",
            "set-branches",
            "prune",
            "update",
        ],
    ),
    git_words("bisect", &["run", "start", "good", "bad", "reset", "skip"]),
    git_words(
        "submodule",
        &["foreach", "add", "update", "init", "deinit", "sync", "set-url"],
    ),
    git_words("reflog", &["expire", "delete", "drop"]),
    git_words("worktree", &["add", "remove", "move", "prune", "repair"]),
    git_words("notes", &["add", "append", "copy", "edit", "merge", "remove", "prune"]),
    git_words(
        "stash",
        &[
            "push", "pop", "apply", "drop", "clear", "save", "branch", "store", "create",
        ],
    ),
    // What follows the name of a setting is its value.
    Program {
        operands: Some(2),
        words: &["set", "unset", "rename-section", "remove-section", "edit"],
        ..git(
            "config",
            "e",
            &[
                "--add",
                "--unset",
                "--unset-all",
                "--replace-all",
                "--rename-section",
                "--remove-section",
                "--edit",
            ],
        )
    },
    program("hg", "", &["--config", "--cwd", "--repository"]),
    program(
        "svn",
        "",
        &[
            "--diff-cmd",
            "--diff3-cmd",
            "--editor-cmd",
            "--config-option",
            "--config-dir",
        ],
    ),
    program("gh", "XfF", &["--method", "--field", "--raw-field", "--input"]),
    single(
        "find",
        &[
            "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls",
        ],
    ),
    single(
        "gfind",
        &[
            "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls",
        ],
    ),
    program("fd", "xX", &["--exec", "--exec-batch"]),
    program("fdfind", "xX", &["--exec", "--exec-batch"]),
    program("sort", "o", &["--output", "--compress-program"]),
    program("gsort", "o", &["--output", "--compress-program"]),
    program("shuf", "o", &["--output"]),
    program("iconv", "o", &["--output"]),
    program("sdiff", "o", &["--output"]),
    program("patch", "o", &["--output"]),
    program("tree", "oR", &["--output"]),
    Program {
        operands: Some(1),
        ..program("uniq", "", &[])
    },
    Program {
        operands: Some(1),
        ..program("xxd", "r", &["-revert"])
    },
    program(
        "tar",
        "IF",
        &[
            "--to-command",
            "--checkpoint-action",
            "--use-compress-program",
            "--rsh-command",
            "--rmt-command",
            "--info-script",
            "--new-volume-script",
            "--index-file",
            "--extract",
            "--get",
            "--create",
            "--append",
            "--update",
            "--concatenate",
            "--catenate",
            "--delete",
            "--remove-files",
        ],
    ),
    program("rg", "", &["--pre", "--hostname-bin"]),
    program("ag", "", &["--pager"]),
    program("ack", "", &["--pager"]),
    program("bat", "", &["--pager"]),
    program("batcat", "", &["--pager"]),
    program("delta", "", &["--pager"]),
    program(
        "less",
        "oOk+",
        &[
            "--log-file",
            "--LOG-FILE",
            "--lesskey-file",
            "--lesskey-src",
            "--lesskey-content",
        ],
    ),
    program("more", "+", &[]),
    program("man", "PHC", &["--pager", "--html", "--config-file", "--preprocessor"]),
    program("yq", "is", &["--inplace", "--in-place", "--split-exp"]),
    program("file", "C", &["--compile"]),
    program("date", "s", &["--set"]),
    program(
        "dmesg",
        "cCDEn",
        &[
            "--clear",
            "--read-clear",
            "--console-off",
            "--console-on",
            "--console-level",
        ],
    ),
    program(
        "journalctl",
        "",
        &[
            "--vacuum-size",
            "--vacuum-time",
            "--vacuum-files",
            "--rotate",
            "--flush",
            "--sync",
        ],
    ),
    program("sysctl", "wp", &["--write", "--load", "--system"]),
    program("xmllint", "", &["--output", "-o"]),
    program("xsltproc", "o", &["--output"]),
    single("openssl", &["-out", "-engine", "-config"]),
    Program {
        is_abbreviated: false,
        ..single(
            "go",
            &["-toolexec", "-vettool", "-exec", "-overlay", "-modfile", "-o", "-w"],
        )
    },
    program(
        "go",
        "",
        &["--toolexec", "--vettool", "--exec", "--overlay", "--modfile"],
    ),
    program(
        "cargo",
        "ZC+",
        &[
            "--config",
            "--manifest-path",
            "--lockfile-path",
            "--artifact-dir",
            "--out-dir",
            "--fix",
        ],
    ),
    program(
        "npm",
        "C",
        &[
            "--script-shell",
            "--node-options",
            "--userconfig",
            "--globalconfig",
            "--prefix",
        ],
    ),
    program(
        "curl",
        "oOJKTcD",
        &[
            "--output",
            "--output-dir",
            "--remote-name",
            "--remote-name-all",
            "--remote-header-name",
            "--config",
            "--upload-file",
            "--cookie-jar",
            "--dump-header",
            "--trace",
            "--trace-ascii",
            "--stderr",
            "--libcurl",
            "--etag-save",
        ],
    ),
    program("rsync", "e", &["--rsh", "--rsync-path"]),
];
