//! Layering: no module imports a module of a higher layer. Outside of the loop nest, no modules
//! import each other in a cycle.

use super::{files, library_code, root};
use crate::harness::prelude::*;

/// The levels of the loop nest, with the operands and the headers of their kernels. A level has the
/// rules, the launch, and the text of its kernels, so these modules import each other.
const LOOP_NEST: [&str; 6] = ["nest", "threadblock", "warp", "epilogue", "operand", "codegen"];

/// Layers from the lowest up. Modules of one layer may import each other.
const LAYERS: [&[&str]; 8] = [
    &["arch", "layout", "numeric", "shape"],
    &["refusal"],
    &["schedule"],
    &["thread"],
    &LOOP_NEST,
    &["host", "cuda"],
    &["device"],
    &["prelude"],
];

/// Crates from the lowest up, with their folders. A crate depends only on lower crates.
const CRATES: [(&str, &str); 5] = [
    ("falchion-layout", "layout"),
    ("falchion", "."),
    ("falchion-check", "check"),
    ("falchion-lab", "lab"),
    ("falchion-cli", "cli"),
];

/// Names outside of all layers: unsafe code, and the error type that every module may return.
const OUTSIDE: [&str; 2] = ["error", "sys"];

/// Modules with the modules that their files import, and the importing files.
type Imports = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Returns the module of a file: the first part of its path below `src/`.
fn module(file: &str) -> &str {
    let below = file.strip_prefix("src/").unwrap_or(file);
    below.split(['/', '.']).next().unwrap_or_default()
}

/// Returns the modules that a text names in `use crate::{..}`, one level deep, and in paths that
/// begin with `crate::`.
fn named(code: &str) -> BTreeSet<String> {
    let word = |text: &str| {
        text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
    };
    let mut modules = BTreeSet::new();
    // Text that a macro emits for other crates is not an import.
    for (at, _) in code.match_indices("crate::").filter(|(at, _)| !code[..*at].ends_with('$')) {
        let after = &code[at + "crate::".len()..];
        let Some(list) = after.strip_prefix('{') else {
            modules.insert(word(after));
            continue;
        };
        let mut depth = 0;
        let mut begins = true;
        for (i, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => begins = true,
                c if begins && depth == 0 && !c.is_whitespace() => {
                    modules.insert(word(&list[i..]));
                    begins = false;
                }
                _ => {}
            }
        }
    }
    // The crate root re-exports two items of modules. Macros belong to no module.
    modules
        .into_iter()
        .map(|name| match name.as_str() {
            "Error" => "error".to_owned(),
            "Refusal" => "refusal".to_owned(),
            _ => name,
        })
        .filter(|name| !name.is_empty() && name != "mirrored")
        .collect()
}

fn imports(sources: &BTreeMap<String, String>) -> Imports {
    let mut imports = Imports::new();
    for (file, text) in sources.iter().filter(|(file, _)| *file != "src/lib.rs") {
        let own = module(file).to_owned();
        for other in named(&library_code(text)).into_iter().filter(|other| *other != own) {
            imports.entry(own.clone()).or_default().entry(other).or_default().insert(file.clone());
        }
        imports.entry(own).or_default();
    }
    imports
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|modules| modules.contains(&module))
}

/// Returns every import of a higher layer.
fn higher_imports(imports: &Imports) -> Vec<String> {
    let mut found = Vec::new();
    for (module, others) in imports.iter().filter(|(module, _)| !OUTSIDE.contains(&module.as_str()))
    {
        for (other, files) in others.iter().filter(|(other, _)| !OUTSIDE.contains(&other.as_str()))
        {
            match (layer_of(module), layer_of(other)) {
                (Some(own), Some(above)) if above > own => {
                    found.push(format!("{module} imports {other} above it: {files:?}"))
                }
                (Some(_), Some(_)) => {}
                _ => found.push(format!("{module} or {other} is in no layer: {files:?}")),
            }
        }
    }
    found
}

/// Returns the modules that reach themselves through imports.
fn cycles(imports: &Imports) -> BTreeSet<String> {
    let reached = |from: &str| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(module) = next.pop() {
            for other in imports.get(&module).into_iter().flat_map(BTreeMap::keys) {
                if !OUTSIDE.contains(&other.as_str()) && seen.insert(other.clone()) {
                    next.push(other.clone());
                }
            }
        }
        seen
    };
    let modules = imports.keys().filter(|module| !OUTSIDE.contains(&module.as_str()));
    modules.filter(|module| reached(module).contains(*module)).cloned().collect()
}

#[test]
fn no_module_imports_a_higher_layer() {
    assert_eq!(higher_imports(&imports(&files(&["src"], "rs"))), [""; 0]);
}

#[test]
fn only_levels_of_the_loop_nest_import_each_other_in_a_cycle() {
    let imports = imports(&files(&["src"], "rs"));
    let mut others = cycles(&imports);
    others.retain(|module| !LOOP_NEST.contains(&module.as_str()));
    assert_eq!(others, BTreeSet::new());
    // Every module of the layers exists.
    let gone: Vec<_> = LAYERS
        .iter()
        .flat_map(|modules| modules.iter())
        .filter(|module| !imports.contains_key(**module))
        .collect();
    assert_eq!(gone, [&"prelude"], "`prelude` is defined in lib.rs");
}

#[test]
fn a_higher_import_and_a_cycle_are_found() {
    let tree = |files: &[(&str, &str)]| {
        files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    };
    let sources: BTreeMap<String, String> = tree(&[
        (
            "src/layout/mod.rs",
            "use crate::{refusal::{A, B}, numeric};\n// use crate::device;\n#[cfg(test)]\nmod tests { use crate::host::X; }",
        ),
        ("src/numeric/mod.rs", "fn f() -> crate::shape::Mnk {}"),
        ("src/shape.rs", "use crate::numeric::{\n    a::{b},\n    c,\n};"),
        ("src/warp/mma.rs", "use crate::{device::Gemm, Error};"),
        ("src/device/mod.rs", "use crate::warp;"),
        ("src/attic.rs", ""),
    ]);
    let imports = imports(&sources);
    let higher_imports = higher_imports(&imports);
    assert_eq!(higher_imports.len(), 2, "{higher_imports:?}");
    assert!(higher_imports[0].starts_with("layout imports refusal above it"), "{higher_imports:?}");
    assert!(higher_imports[1].starts_with("warp imports device above it"), "{higher_imports:?}");
    assert_eq!(cycles(&imports), ["device", "numeric", "shape", "warp"].map(str::to_owned).into());
}

/// Returns the crates of the workspace in the dependencies of a manifest, without those of tests.
fn dependencies(manifest: &str) -> Vec<&str> {
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default();
    let lines = section.lines().take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.split_once(" = ").map(|(name, _)| name));
    names.filter(|name| name.starts_with("falchion")).collect()
}

/// Returns the dependencies of a crate that are not below it.
fn not_below<'m>(name: &str, manifest: &'m str) -> Vec<&'m str> {
    let below = CRATES.iter().take_while(|(other, _)| *other != name);
    let below: Vec<_> = below.map(|(other, _)| *other).collect();
    let mut others = dependencies(manifest);
    others.retain(|other| !below.contains(other));
    others
}

#[test]
fn crates_depend_only_on_lower_crates() {
    let mut edges = 0;
    for (name, folder) in CRATES {
        let path = root().join(folder).join("Cargo.toml");
        let manifest = fs::read_to_string(path).expect("a manifest");
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{folder}");
        assert_eq!(not_below(name, &manifest), [""; 0], "{name}");
        edges += dependencies(&manifest).len();
    }
    assert!(edges >= 7, "{edges}");
}

#[test]
fn a_dependency_on_a_higher_crate_is_found() {
    let manifest = "[package]\nname = \"falchion-check\"\n\n[dependencies]\nbytemuck = \"1\"\n\
                    falchion = { path = \"..\" }\nfalchion-lab = { path = \"../lab\" }\n\n\
                    [dev-dependencies]\nfalchion-cli = { path = \"../cli\" }\n";
    assert_eq!(not_below("falchion-check", manifest), ["falchion-lab"]);
}
