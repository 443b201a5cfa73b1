//! Each check of `tidy` on a broken house.

use crate::fixture::Fixture;

const CHAT: &str = "crates/agcore-chat/src/lib.rs";
const MANIFEST: &str = "crates/agcore-chat/Cargo.toml";

#[test]
fn a_sound_house_passes() {
    Fixture::sound().xtask("tidy").passes();
}

#[test]
fn a_file_says_what_it_is() {
    let house = Fixture::sound();
    house.write(CHAT, "pub struct Message;\n");
    house
        .xtask("tidy")
        .fails("module-docs", &["crates/agcore-chat/src/lib.rs: it has no module docs"]);
}

#[test]
fn a_module_root_stands_beside_its_folder() {
    let house = Fixture::sound();
    house.write("crates/agcore-chat/src/wire/mod.rs", "//! Wires.\n");
    house
        .xtask("tidy")
        .fails("module-roots", &["call it crates/agcore-chat/src/wire.rs"]);
}

#[test]
fn a_file_is_not_endless() {
    let house = Fixture::sound();
    house.append(CHAT, &"// one more\n".repeat(600));
    house.xtask("tidy").fails("length", &["601 lines, 600 are allowed"]);
}

#[test]
fn a_crate_has_a_readme() {
    let house = Fixture::sound();
    house.remove("crates/agcore-chat/README.md");
    house
        .xtask("tidy")
        .fails("readmes", &["crates/agcore-chat/README.md: the crate has no README"]);
}

#[test]
fn a_crate_takes_lints_and_version_from_the_workspace() {
    let house = Fixture::sound();
    let manifest = house.read(MANIFEST).replace("[lints]\nworkspace = true", "");
    house.write(MANIFEST, &manifest);
    house
        .xtask("tidy")
        .fails("manifests", &["it does not take the workspace's lints"]);

    let house = Fixture::sound();
    let manifest = house
        .read(MANIFEST)
        .replace("version.workspace = true", "version = \"0.1.0\"");
    house.write(
        MANIFEST,
        &manifest.replace("rust-version = \"0.1.0\"", "rust-version.workspace = true"),
    );
    house
        .xtask("tidy")
        .fails("manifests", &["`version` is not the workspace's"]);
}

#[test]
fn a_library_does_not_print() {
    let house = Fixture::sound();
    house.append(CHAT, "/// Says it.\npub fn say() {\n    println!(\"it\");\n}\n");
    house.xtask("tidy").fails(
        "printing",
        &["crates/agcore-chat/src/lib.rs:4: a library calls println!"],
    );
}

#[test]
fn nothing_is_a_stub() {
    for (line, said) in [
        ("pub fn f() { todo!() }", "`todo!`"),
        ("#[test]\n#[ignore]\nfn f() {}", "`#[ignore]` without a reason"),
        (concat!("// FIX", "ME: this"), concat!("`FIX", "ME`")),
    ] {
        let house = Fixture::sound();
        house.append(CHAT, &format!("{line}\n"));
        house.xtask("tidy").fails("stubs", &[said]);
    }
}

#[test]
fn no_file_names_a_path_of_a_machine() {
    let house = Fixture::sound();
    house.write("docs/run.md", concat!("Run it in /ho", "me/me/agcore.\n"));
    house
        .xtask("tidy")
        .fails("machine-paths", &["docs/run.md:1: it names a path under"]);
}

#[test]
fn the_changelog_tells_of_the_version() {
    let house = Fixture::sound();
    house.write("CHANGELOG.md", "# Changelog\n\n## 0.0.1\n");
    house.xtask("tidy").fails("changelog", &["it does not tell of 0.1.0"]);
}

#[test]
fn a_check_can_be_run_alone() {
    let house = Fixture::sound();
    house.remove("CHANGELOG.md");
    let ran = house.xtask("tidy printing stubs");
    ran.passes();
    assert!(ran.text.trim_end().ends_with("\n2 passed, 0 failed"), "{}", ran.text);
}
