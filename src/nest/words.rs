//! Knobs as words: the form of each value in flags and JSON.
//!
//! ```text
//! 128x128x8            a shape, M x N x K
//! pipelined            a main loop
//! 8 | horizontal | grouped:8 | hilbert    an order of tiles
//! transform_0123456789abcdef:f32:bf16     a transform: its hash, its stored and its multiplied type
//! auto | mn+4 | k+1    rows along MN or K, padded by 4 elements or 1
//! k^3,2,0              rows along K; 3 bits of the row move chunks of 2^2 elements, from bit 0 on
//! ```

use crate::{
    Error,
    epilogue::EpilogueDesc,
    numeric::TransformId,
    shape::{Mn, Mnk, words::Named},
    threadblock::smem::{Along, SmemLayout},
};

/// A value that flags and JSON can spell. `read` of the text from `spell` returns the same value.
pub(crate) trait Words: Sized {
    /// The form of the text, for help texts.
    const FORM: &'static str;
    /// Reads a value from a text.
    ///
    /// # Errors
    /// A sentence that states the expected form.
    fn read(text: &str) -> Result<Self, String>;
    /// Returns the text of a value.
    fn spell(&self) -> String;
}

impl<T: Named> Words for T {
    const FORM: &'static str = <T as Named>::FORM;

    fn read(text: &str) -> Result<Self, String> {
        let words = || T::VALUES.iter().map(|value| value.word()).collect::<Vec<_>>().join(", ");
        T::VALUES
            .iter()
            .copied()
            .find(|value| value.word() == text)
            .ok_or_else(|| format!("the value must be one of {}", words()))
    }

    fn spell(&self) -> String {
        self.word().to_owned()
    }
}

impl Words for u32 {
    const FORM: &'static str = "N";

    fn read(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| format!("the value must be a whole number from 0 to {}", u32::MAX))
    }

    fn spell(&self) -> String {
        self.to_string()
    }
}

impl Words for Mnk {
    const FORM: &'static str = "MxNxK";

    fn read(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: Error| error.because())
    }

    fn spell(&self) -> String {
        self.to_string()
    }
}

impl Words for Mn {
    const FORM: &'static str = "MxN";

    fn read(text: &str) -> Result<Self, String> {
        let extents = text
            .split_once('x')
            .and_then(|(m, n)| Some(Self { m: m.parse().ok()?, n: n.parse().ok()? }));
        extents.ok_or_else(|| "the value must be a shape MxN, such as 2x1".to_owned())
    }

    fn spell(&self) -> String {
        self.to_string()
    }
}

impl Words for SmemLayout {
    const FORM: &'static str = "auto|mn+PAD|k+PAD|mn^BITS,BASE,SHIFT|k^..";

    fn read(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let read = || {
            let (along, rest) = match (text.strip_prefix("mn"), text.strip_prefix('k')) {
                (Some(rest), _) => (Along::Mn, rest),
                (_, Some(rest)) => (Along::K, rest),
                _ => return None,
            };
            if let Some(padding) = rest.strip_prefix('+') {
                return Some(Self::Padded { along, padding: padding.parse().ok()? });
            }
            let numbers: Option<Vec<u32>> =
                rest.strip_prefix('^')?.split(',').map(|number| number.parse().ok()).collect();
            match numbers?[..] {
                [bits, base, shift] => Some(Self::Swizzled { along, bits, base, shift }),
                _ => None,
            }
        };
        read().ok_or_else(|| {
            "the value must be auto, a padded layout along mn or k (mn+4, k+1), or a swizzle with bits, base, and shift \
             (mn^3,2,0)"
                .to_owned()
        })
    }

    fn spell(&self) -> String {
        let name = |along| if matches!(along, Along::Mn) { "mn" } else { "k" };
        match *self {
            Self::Auto => "auto".to_owned(),
            Self::Padded { along, padding } => format!("{}+{padding}", name(along)),
            Self::Swizzled { along, bits, base, shift } => {
                format!("{}^{bits},{base},{shift}", name(along))
            }
        }
    }
}

/// Declares an enum of one word and a number, with its spelling in flags and files.
macro_rules! word_or_number {
    ($(#[$meta:meta])* pub enum $Kind:ident {
        $(#[$word_doc:meta])* $Word:ident = $word:literal,
        $(#[$number_doc:meta])* $Number:ident(u32) = $means:literal,
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $Kind {
            $(#[$word_doc])* $Word,
            $(#[$number_doc])* $Number(u32),
        }

        impl $crate::nest::words::Words for $Kind {
            const FORM: &'static str = concat!($word, "|N");

            fn read(text: &str) -> Result<Self, String> {
                match (text, text.parse()) {
                    ($word, _) => Ok(Self::$Word),
                    (_, Ok(number)) => Ok(Self::$Number(number)),
                    _ => Err(concat!("the value must be ", $word, ", or ", $means).to_owned()),
                }
            }

            fn spell(&self) -> String {
                match self {
                    Self::$Word => $word.to_owned(),
                    Self::$Number(number) => number.to_string(),
                }
            }
        }
    };
}

pub(crate) use word_or_number;

impl Words for TransformId {
    const FORM: &'static str = "transform_HASH:STORED:MULTIPLIED";

    fn read(text: &str) -> Result<Self, String> {
        Self::from_words(text).ok_or_else(|| {
            "the value must be the identifier of a transform, such as transform_0123456789abcdef:f32:bf16"
                .to_owned()
        })
    }

    fn spell(&self) -> String {
        self.to_string()
    }
}

impl Words for EpilogueDesc {
    const FORM: &'static str = "EXPR";

    fn read(text: &str) -> Result<Self, String> {
        text.parse::<Self>().map_err(|error| {
            let column = text.get(..error.at).map_or(0, |before| before.chars().count());
            format!("{} (column {})", error.why, column + 1)
        })
    }

    fn spell(&self) -> String {
        self.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        nest::{DecompositionKind, PromotionKind, SaturateKind, SpillKind},
        numeric::EmulationKind,
        threadblock::{MainloopKind, SwizzleId, SwizzleKind},
        warp::{InterleaveKind, UnrollKind},
    };
    use core::fmt::Debug;

    fn reads_back<T: Words + PartialEq + Debug>(value: T) {
        assert_eq!(T::read(&value.spell()), Ok(value));
    }

    #[test]
    fn spelled_words_read_back() {
        reads_back(7u32);
        reads_back(Mnk::new(128, 64, 8));
        MainloopKind::ALL.into_iter().for_each(reads_back);
        [
            SwizzleKind::Identity(8),
            SwizzleKind::Horizontal,
            SwizzleKind::Grouped(3),
            SwizzleKind::Hilbert,
            SwizzleKind::User(SwizzleId(7)),
        ]
        .into_iter()
        .for_each(reads_back);
        [InterleaveKind::Elements(2), InterleaveKind::Vector].into_iter().for_each(reads_back);
        [UnrollKind::By(4), UnrollKind::Full].into_iter().for_each(reads_back);
        [SpillKind::Refused, SpillKind::Allowed].into_iter().for_each(reads_back);
        SaturateKind::ALL.into_iter().for_each(reads_back);
        DecompositionKind::ALL.into_iter().for_each(reads_back);
        PromotionKind::ALL.into_iter().for_each(reads_back);
        EmulationKind::ALL.into_iter().for_each(reads_back);
        for along in [Along::Mn, Along::K] {
            reads_back(SmemLayout::Padded { along, padding: 4 });
            reads_back(SmemLayout::Swizzled { along, bits: 3, base: 2, shift: 1 });
        }
        reads_back(SmemLayout::Auto);
        reads_back(EpilogueDesc::read("relu(alpha * acc + beta * c)").unwrap());
    }

    #[test]
    fn invalid_values_are_refused_with_the_valid_form() {
        for text in ["", "128x128", "128x128x8x1", "128x128x", "-1x2x3", "99999999999x1x1", "axbxc"]
        {
            assert!(Mnk::read(text).unwrap_err().contains("MxNxK"), "{text}");
        }
        for text in ["", "mn", "k", "mn+", "k+x", "mn^3,2", "mn^3,2,0,1", "n+4", "mn-4", "k^"] {
            assert!(SmemLayout::read(text).unwrap_err().contains("mn+4"), "{text}");
        }
        assert!(
            u32::read("-1").is_err()
                && SwizzleKind::read("vertical").is_err()
                && MainloopKind::read("").is_err()
        );
        let why = EpilogueDesc::read("alpha * akk").unwrap_err();
        assert!(why.contains("`akk` is not known") && why.ends_with("(column 9)"), "{why}");
    }
}
