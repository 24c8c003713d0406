//! Small whole numbers of every element type.

use super::prelude::*;

/// Element type that holds small whole numbers.
pub trait Whole: Copy + PartialEq {
    fn whole(x: i8) -> Self;
}

macro_rules! whole {
    ($($T:ty => $from:expr;)*) => {
        $(impl Whole for $T {
            fn whole(x: i8) -> Self {
                let from: fn(i8) -> Self = $from;
                from(x)
            }
        })*
    };
}

whole! {
    E4m3 => |x| E4m3::from_f32(f32::from(x));
    F16 => |x| F16::from_f32(f32::from(x));
    Bf16 => |x| Bf16::from_f32(f32::from(x));
    f32 => f32::from;
    f64 => f64::from;
    i8 => |x| x;
    i32 => i32::from;
}

/// Returns random numbers from -7 to 7.
pub fn numbers<T: Whole>(seed: u64, length: usize) -> Vec<T> {
    (0..length as u64).map(|i| T::whole((draw(seed, i) % 15) as i8 - 7)).collect()
}
