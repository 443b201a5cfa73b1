//! The options with which a program that reads writes files or runs other programs.
//!
//! A pattern such as `git log *` is written for reading. The table lists, for each program, what would turn such a command into
//! another one. It errs on the side of a question: a beginning of a long option counts as the option, because most programs accept
//! that.

mod script;
mod table;

use self::{
    script::{awk_acts, sed_acts},
    table::{PROGRAMS, Program},
};

/// Returns whether the words of a command, from `open` on or with a wildcard in the pattern, may make it write files or run other
/// programs although it usually only reads. `is_open` returns whether a word was left open by the pattern.
pub(super) fn acts(words: &[&str], is_open: impl Fn(usize) -> bool) -> bool {
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    let name = program(first);
    match name.as_str() {
        "sed" | "gsed" => return (1..words.len()).any(&is_open) && sed_acts(rest),
        "awk" | "gawk" | "mawk" | "nawk" => return (1..words.len()).any(&is_open) && awk_acts(rest),
        _ => {}
    }
    let known = PROGRAMS.iter().filter(|known| known.name == name);
    known.into_iter().any(|program| program.acts(words, &is_open))
}

/// Returns the name of a program without its path and ending.
fn program(word: &str) -> String {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word).to_ascii_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name).to_owned()
}

impl Program {
    fn acts(&self, words: &[&str], is_open: &impl Fn(usize) -> bool) -> bool {
        if self.subcommand.is_some_and(|wanted| subcommand(words) != Some(wanted)) {
            return false;
        }
        let (mut operands, mut operands_only) = (0, false);
        for (index, word) in words.iter().enumerate().skip(1) {
            if !operands_only && *word == "--" {
                operands_only = true;
                continue;
            }
            let is_option = !operands_only && word.len() > 1 && word.starts_with(['-', '+']);
            if !is_option {
                operands += 1;
            }
            let acts = match is_option {
                true => self.acts_with(word),
                false => self.words.contains(word) || self.operands.is_some_and(|most| operands > most),
            };
            if acts && is_open(index) {
                return true;
            }
        }
        false
    }

    /// Returns whether an option is one of the table.
    fn acts_with(&self, word: &str) -> bool {
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        if word.starts_with("--") {
            return name.len() > 2 && self.long.iter().any(|option| option.starts_with(name));
        }
        // `-exec`: programs with long options behind a single dash.
        if self
            .single
            .iter()
            .any(|option| *option == name || self.is_abbreviated && option.starts_with(name))
        {
            return true;
        }
        word.starts_with('-') && word.chars().skip(1).any(|c| self.short.contains(c))
            || word.starts_with('+') && self.short.contains('+')
    }
}

/// Returns the subcommand of git and similar programs: the first word that is neither an option nor the value of one.
fn subcommand<'w>(words: &[&'w str]) -> Option<&'w str> {
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        match *word {
            "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "-R" | "--repo" => {
                rest.next();
            }
            word if word.starts_with('-') => {}
            word => return Some(word),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything after the first `fixed` words is left open.
    #[track_caller]
    fn check(fixed: usize, line: &str, expected: bool) {
        let words: Vec<&str> = line.split('\t').collect();
        assert_eq!(acts(&words, |index| index >= fixed), expected, "{line:?}");
    }

    #[test]
    fn reading_commands_with_usual_options_only_read() {
        for line in [
            "git\tlog\t--oneline\t-5",
            "git\tlog\t--follow\t--\t--output",
            "git\tdiff\t--stat\tHEAD~1",
            "git\tlog\t--no-ext-diff\t-p",
            "git\tgrep\t-n\tfoo",
            "git\tshow\tHEAD:src/main.rs",
            "git\tconfig\t--get\tuser.name",
            "git\tconfig\t-l",
            "git\tbranch\t-a",
            "git\ttag\t-l\tv1*",
            "find\t.\t-name\t*.rs\t-type\tf",
            "sort\t-rn\tfile",
            "uniq\t-c\tfile",
            "tar\ttzf\ta.tgz",
            "rg\t-n\t--type\trust\tfoo",
            "sed\t-n\t1,40p\tfile",
            "sed\ts/a/b/g\tfile",
            "sed\t-E\t-n\ts/(a)/\\1/p",
            "awk\t{print $1}\tfile",
            "ls\t-la",
            "cat\tfile",
            "cargo\ttree",
            "cargo\ttest\t--features\tx\t--\t--fix",
            "npm\trun\ta\t--\t-C",
            "date\t+%s",
            "less\tfile",
        ] {
            check(2, line, false);
        }
    }

    #[test]
    fn options_that_write_or_run_are_found() {
        for line in [
            "git\tlog\t--output=x",
            "git\tlog\t-1\t--output\tx",
            "git\tlog\t--outp=x",
            "git\tdiff\t--ext-diff",
            "git\tdiff\t--ext",
            "git\tlog\t-p\t--textconv",
            "git\tshow\t--ext-diff",
            "git\tgrep\t-Ovi\tfoo",
            "git\tgrep\t-nOvi\tfoo",
            "git\tgrep\t--open-files=vi\tfoo",
            "git\t-c\tcore.pager=x\tlog",
            "git\t--config-env=core.pager=X\tlog",
            "git\t--exec-path=.\tlog",
            "git\t--git-dir=x\tlog",
            "git\t-C\tx\tlog",
            "git\tls-remote\t--upload-pack=x\t.",
            "git\tls-remote\t--exec=x\t.",
            "git\tfetch\t--upload-pack\tx",
            "git\tarchive\t-o\tx\tHEAD",
            "git\tconfig\tcore.fsmonitor\tx",
            "git\tconfig\t--global\tcore.pager\tx",
            "git\tbranch\t-D\tx",
            "git\tdifftool\t-x\tcmd",
            "find\t.\t-exec\tx",
            "find\t.\t-execdir\tx",
            "find\t.\t-ok\tx",
            "find\t.\t-delete",
            "find\t.\t-fprintf\tx\ty",
            "find\t.\t-fls\tx",
            "fd\t.\t-x\tx",
            "fd\t.\t--exec-batch\tx",
            "sort\tfile\t-o\tx",
            "sort\tfile\t-ro\tx",
            "sort\tfile\t-ox",
            "sort\tfile\t--outp=x",
            "sort\tfile\t--compress-program=x",
            "uniq\tin\tout",
            "tar\ttf\ta.tar\t--to-command=x",
            "tar\ttf\ta.tar\t--checkpoint-action=exec=x",
            "tar\ttf\ta.tar\t-I\tx",
            "tar\ttf\ta.tar\t--use-compress=x",
            "rg\tfoo\t--pre\tx",
            "rg\tfoo\t--pre=x",
            "rg\tfoo\t--hostname-bin=x",
            "sed\t-n\t-i\tp\tfile",
            "sed\t-n\t--in-place\tp\tfile",
            "sed\t-n\tw x\tfile",
            "sed\t-n\t1w x\tfile",
            "sed\t-n\ts/a/b/w x\tfile",
            "sed\t-n\ts/a/b/e\tfile",
            "sed\t-n\te id\tfile",
            "sed\t-n\t1e id\tfile",
            "sed\t-n\tp;w x\tfile",
            "sed\t-n\t-f\tscript",
            "sed\t-ni\tp\tfile",
            "awk\tfile\t{system(\"id\")}",
            "awk\tfile\t{print > \"x\"}",
            "awk\tfile\t-f\tx",
            "tree\t.\t-o\tx",
            "yq\t.\t-i\tfile",
            "xxd\tin\tout",
            "go\tvet\t-vettool=x",
            "go\tlist\t-toolexec=x",
            "cargo\ttree\t--config\tx",
            "cargo\ttest\t--manifest-path=x/Cargo.toml",
            "cargo\tclippy\t--fix",
            "npm\ttest\t--prefix\tx",
            "npm\trun\ta\t-C\tx",
            "less\tfile\t-Ox",
            "less\tfile\t+!id",
            "man\tls\t-P\tx",
            "gh\tapi\t-X\tDELETE\tx",
            "gh\tapi\t-XDELETE\tx",
            "curl\thttps://a\t-o\tx",
            "date\tx\t-s\ty",
        ] {
            check(1, line, true);
        }
    }

    #[test]
    fn what_a_pattern_names_itself_is_allowed() {
        check(3, "git\tlog\t--output=x", false);
        check(3, "git\tbranch\t-D\tx", false);
        check(3, "sort\t-o\tx\tfile", false);
        check(3, "sed\t-i\ts/a/b/", false);
        // Also with a path and in capital letters, as on Windows.
        check(1, "/usr/bin/git\tlog\t--output=x", true);
        check(1, "Git.EXE\tlog\t--output=x", true);
    }
}
