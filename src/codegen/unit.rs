//! What NVRTC sees of a kernel.

use super::KERNELS;

/// Everything that NVRTC sees: the translation unit, and the headers it includes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TranslationUnit {
    /// The name of the entry point.
    pub entry: &'static str,
    /// That of a second one, which takes the same, where there is one.
    pub second: Option<&'static str>,
    /// Whether its kernels wait for the grids before them, and so may be launched while those end.
    pub waits: bool,
    /// The source.
    pub source: String,
    /// The generated header.
    pub config: String,
    /// Headers beside it and [`KERNELS`], by the name under which they are included: those of
    /// kernels that are not this library's.
    pub headers: &'static [(&'static str, &'static str)],
}

/// What `config.cuh` is called where it is included.
const CONFIG: &str = "config.cuh";

impl TranslationUnit {
    /// The headers that the source includes, and those that they include, each once: name and text.
    /// No other text decides the kernel, so that a change elsewhere makes no cubin stale. What is
    /// no header of ours is left to the compiler's own words.
    pub fn included(&self) -> Vec<(&str, &str)> {
        let text = |name: &str| {
            let known =
                KERNELS.iter().chain(self.headers).copied().find(|(known, _)| *known == name);
            if name == CONFIG { Some((CONFIG, self.config.as_str())) } else { known }
        };
        let mut found: Vec<(&str, &str)> = Vec::new();
        let mut unread = vec![self.source.as_str()];
        while let Some(next) = unread.pop() {
            for name in names(next) {
                if let Some(header) = text(name).filter(|header| !found.contains(header)) {
                    found.push(header);
                    unread.push(header.1);
                }
            }
        }
        found.sort_unstable();
        found
    }
}

/// The names between the quotes of a text's `#include`s.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.trim_start().strip_prefix("#include \"")?.split('"').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(source: &str, config: &str) -> TranslationUnit {
        TranslationUnit {
            entry: "k",
            second: None,
            waits: false,
            source: source.to_owned(),
            config: config.to_owned(),
            headers: &[("own.cuh", "#include \"index.cuh\"")],
        }
    }

    #[test]
    fn headers_are_those_that_are_reached() {
        let names = |unit: &TranslationUnit| {
            unit.included().iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(&unit("int x;", "#include \"numeric.cuh\"")), [""; 0]);
        assert_eq!(
            names(&unit("#include \"own.cuh\"\n  #include \"nowhere.cuh\"", "")),
            ["index.cuh", "own.cuh"]
        );
        let through = names(&unit(
            "#include \"config.cuh\"",
            "#include \"warp/mma_simt.cuh\"\n#include \"config.cuh\"",
        ));
        assert!(
            through.contains(&"smem.cuh".to_owned()) && through.contains(&"config.cuh".to_owned())
        );
        assert!(!through.contains(&"pass/transpose.cuh".to_owned()), "{through:?}");
    }

    /// Every header is included by some path that is a name of [`KERNELS`], and no name is there
    /// twice.
    #[test]
    fn what_kernels_include_is_there() {
        let known: Vec<_> = KERNELS.iter().map(|(name, _)| *name).collect();
        for (name, text) in KERNELS {
            let gone: Vec<_> =
                names(text).filter(|other| *other != CONFIG && !known.contains(other)).collect();
            assert_eq!(gone, [""; 0], "{name}");
        }
        let mut once = known.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), known.len());
    }
}
