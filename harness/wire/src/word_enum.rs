//! One macro for the three tables of numbers that the format has: opcodes, object kinds and reasons.

/// Declares an enumeration whose members are u32 words with a written name.
///
/// Gives it `ALL` (in numeric order), `from_word`, `word`, `name` and `Display`, all from the one table.
macro_rules! word_enum {
    (
        $(#[$about:meta])*
        pub enum $type:ident {
            $( $(#[$doc:meta])* $member:ident = $word:literal, $name:literal; )+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum $type {
            $( $(#[$doc])* $member = $word, )+
        }

        impl $type {
            /// Every member, in the order of their numbers.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$member),+];

            /// The member that `word` stands for; `None` for a word that is not in the table.
            pub const fn from_word(word: u32) -> Option<Self> {
                match word {
                    $( $word => Some(Self::$member), )+
                    _ => None,
                }
            }

            /// The number that stands for this member in words and in frames.
            pub const fn word(self) -> u32 {
                self as u32
            }

            /// The name as the specification writes it.
            pub const fn name(self) -> &'static str {
                match self {
                    $( Self::$member => $name, )+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

pub(crate) use word_enum;
