//! The translation unit of a kernel, as NVRTC reads it.

use super::KERNELS;

/// The complete text that NVRTC reads: the translation unit, and the headers that it includes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TranslationUnit {
    /// Name of the entry point.
    pub entry: &'static str,
    /// Name of a second entry point with the same parameters, if there is one.
    pub second: Option<&'static str>,
    /// Whether the kernels wait for the preceding grids, so that they may launch before those grids
    /// end.
    pub waits: bool,
    /// Source text.
    pub source: String,
    /// Text of the generated header.
    pub config: String,
    /// Further headers as (include name, text), in addition to [`KERNELS`]. Kernels of other crates
    /// use them.
    pub headers: &'static [(&'static str, &'static str)],
}

/// Include name of the generated header.
const CONFIG: &str = "config.cuh";

impl TranslationUnit {
    /// Returns the (name, text) of each header that the source includes, directly or indirectly,
    /// once.
    ///
    /// Only these texts determine the kernel, so changes to other headers do not invalidate a
    /// cubin. A name that is not a header of Falchion is skipped, and the compiler reports it.
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

/// Returns the quoted names in the `#include` lines of a text.
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
            headers: &[("own.cuh", "#include \"layout/index_map.cuh\"")],
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
            ["layout/index_map.cuh", "own.cuh"]
        );
        let through = names(&unit(
            "#include \"config.cuh\"",
            "#include \"threadblock/mma.cuh\"\n#include \"config.cuh\"",
        ));
        assert!(
            through.contains(&"threadblock/smem.cuh".to_owned())
                && through.contains(&"config.cuh".to_owned())
        );
        assert!(!through.contains(&"operand/transpose.cuh".to_owned()), "{through:?}");
    }

    /// Each include path is a name in [`KERNELS`], and each name appears once.
    #[test]
    fn included_headers_exist() {
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
