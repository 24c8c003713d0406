//! Enums whose values are words, with each word defined once, and hashes of texts.

/// A value that has a word.
pub(crate) trait Named: Copy + 'static {
    /// All words in the notation of a flag's help: `a|b`.
    const FORM: &'static str;
    /// Every value.
    const VALUES: &'static [Self];
    /// Returns the word of the value.
    fn word(self) -> &'static str;
}

/// Declares an enum whose values are words, with `ALL` values, the `name` of each, and its spelling
/// in flags and files.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $Kind:ident { $($(#[$doc:meta])* $Variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum $Kind {
            $($(#[$doc])* #[cfg_attr(feature = "serde", serde(rename = $word))] $Variant),+
        }

        impl $Kind {
            /// Every value.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$Variant),+];

            /// Returns the name, as flags and files spell it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Variant => $word),+
                }
            }

            /// Returns whether `values` contains this value.
            #[allow(dead_code, reason = "not every enum is compared with a list")]
            pub(crate) const fn is_among(self, values: &[Self]) -> bool {
                let mut i = 0;
                while i < values.len() && values[i] as u8 != self as u8 {
                    i += 1;
                }
                i < values.len()
            }
        }

        impl core::fmt::Display for $Kind {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.name())
            }
        }

        impl core::str::FromStr for $Kind {
            type Err = $crate::Error;

            fn from_str(text: &str) -> Result<Self, $crate::Error> {
                let because = || format!("is none of {}", Self::ALL.map(Self::name).join(", "));
                let known = Self::ALL.into_iter().find(|word| word.name() == text);
                known.ok_or_else(|| $crate::Error::Text { what: "word", text: text.to_owned(), because: because() })
            }
        }

        impl $crate::shape::words::Named for $Kind {
            const FORM: &'static str = $crate::shape::words::words!(@form $($word),+);
            const VALUES: &'static [Self] = &Self::ALL;

            fn word(self) -> &'static str {
                self.name()
            }
        }
    };
    (@form $first:literal $(, $word:literal)*) => { concat!($first $(, "|", $word)*) };
}

pub(crate) use words;

/// Returns whether two texts are equal, for use in `const fn`s.
pub(crate) const fn same_text(x: &[u8], y: &[u8]) -> bool {
    let mut i = 0;
    while i < x.len() && i < y.len() && x[i] == y[i] {
        i += 1;
    }
    i == x.len() && i == y.len()
}

/// Text between two texts of a [`TextHash`].
pub(crate) const SEPARATOR: &str = "\u{1f}";

/// The FNV-1a hash of texts, which is equal in every process.
#[derive(Clone, Copy)]
pub(crate) struct TextHash(pub u64);

impl TextHash {
    /// The hash of no text.
    pub(crate) const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);

    /// Returns the hash in a text of the form `PREFIX` and 16 hexadecimal digits.
    pub(crate) const fn read(prefix: &[u8], text: &[u8]) -> Option<u64> {
        if text.len() != prefix.len() + 16 || !same_text(text.split_at(prefix.len()).0, prefix) {
            return None;
        }
        let (mut hash, mut i) = (0, prefix.len());
        while i < text.len() {
            let digit = match text[i] {
                byte @ b'0'..=b'9' => byte - b'0',
                byte @ b'a'..=b'f' => byte - b'a' + 10,
                byte @ b'A'..=b'F' => byte - b'A' + 10,
                _ => return None,
            };
            hash = hash << 4 | digit as u64;
            i += 1;
        }
        Some(hash)
    }

    /// Returns the hash with a further text.
    pub(crate) const fn and(mut self, text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            self.0 = (self.0 ^ bytes[i] as u64).wrapping_mul(0x0100_0000_01b3);
            i += 1;
        }
        self
    }
}
