//! Texture formats: how many bytes a texel has, and which bits a clear value becomes.

/// A format whose texels stand alone, so that copies and writes move whole bytes. Depth, stencil and compressed formats
/// are none of these: what a device shows of them is its own affair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    /// Bytes of a texel.
    pub texel: usize,
    channels: usize,
    bits: u32,
    number: Number,
    /// Memory holds blue first.
    blue_first: bool,
    srgb: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Unorm,
    Snorm,
    Uint,
    Sint,
    Float,
    /// Channels that share bytes. They are copied, never cleared to a known value.
    Packed,
}

impl Format {
    /// The format that WebGPU calls `name`.
    pub fn named(name: &str) -> Option<Self> {
        if let "rgb9e5ufloat" | "rgb10a2uint" | "rgb10a2unorm" | "rg11b10ufloat" = name {
            let (number, blue_first, srgb) = (Number::Packed, false, false);
            return Some(Self {
                texel: 4,
                channels: 0,
                bits: 0,
                number,
                blue_first,
                srgb,
            });
        }
        let (plain, srgb) = name.strip_suffix("-srgb").map_or((name, false), |plain| (plain, true));
        let (order, rest) = plain.split_at(plain.find(|c: char| c.is_ascii_digit())?);
        let (bits, number) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
        let channels = match order {
            "r" => 1,
            "rg" => 2,
            "rgba" | "bgra" => 4,
            _ => return None,
        };
        let bits = match bits {
            "8" => 8,
            "16" => 16,
            "32" => 32,
            _ => return None,
        };
        let number = match number {
            "unorm" => Number::Unorm,
            "snorm" => Number::Snorm,
            "uint" => Number::Uint,
            "sint" => Number::Sint,
            "float" => Number::Float,
            _ => return None,
        };
        let texel = channels * bits as usize / 8;
        Some(Self {
            texel,
            channels,
            bits,
            number,
            blue_first: order == "bgra",
            srgb,
        })
    }

    /// The format that the kernels paint and store.
    pub fn is_r32uint(self) -> bool {
        self.channels == 1 && self.bits == 32 && self.number == Number::Uint
    }

    /// Whether a texture copy takes texels of `self` to texels of `other`: it does not look at sRGB.
    pub fn copies_to(self, other: Self) -> bool {
        Self { srgb: false, ..self } == Self { srgb: false, ..other }
    }

    /// The texel, as little-endian bits, that a clear to `color` (red, green, blue, alpha) writes.
    ///
    /// WebGPU converts with `[EnforceRange]`: a fraction is dropped, a value out of range is a validation error and so
    /// not foretold. For numbers that are no integers the exact bits are the device's choice, but for 0 and 1.
    pub fn clear_texel(self, mut color: [f32; 4]) -> Option<u128> {
        if self.number == Number::Packed {
            return None;
        }
        if self.blue_first {
            color.swap(0, 2);
        }
        let mut texel = 0;
        for (i, value) in color.into_iter().take(self.channels).enumerate() {
            texel |= u128::from(self.channel(value)?) << (self.bits * i as u32);
        }
        Some(texel)
    }

    fn channel(self, value: f32) -> Option<u32> {
        let max = u32::MAX >> (32 - self.bits);
        match self.number {
            Number::Uint => in_range(value, 0, i64::from(max)),
            Number::Sint => in_range(value, -i64::from(max / 2) - 1, i64::from(max / 2)).map(|bits| bits & max),
            Number::Unorm => zero_or_one(value, max),
            Number::Snorm => zero_or_one(value, max / 2),
            // A negative zero keeps its sign on some devices.
            Number::Float if value == 0.0 && value.is_sign_negative() => None,
            Number::Float if self.bits == 32 => zero_or_one(value, 1.0f32.to_bits()),
            Number::Float if self.bits == 16 => zero_or_one(value, 0x3C00),
            Number::Float | Number::Packed => None,
        }
    }
}

/// `value` without its fraction, in two's complement, where that lies in `low..=high`.
fn in_range(value: f32, low: i64, high: i64) -> Option<u32> {
    // Saturates far outside 32 bits, so out of range stays out of range. The low word is the two's complement.
    let whole = value.trunc() as i64;
    (value.is_finite() && (low..=high).contains(&whole)).then_some(whole as u32)
}

fn zero_or_one(value: f32, one: u32) -> Option<u32> {
    if value == 0.0 {
        Some(0)
    } else {
        (value == 1.0).then_some(one)
    }
}
