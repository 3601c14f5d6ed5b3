//! Closed sets of choices with their words. Messages and settings list them from here.

/// A closed set: an enum, with the word that settings use for each choice.
#[macro_export]
macro_rules! named {
    ($(#[$about:meta])* $name:ident { $($(#[$variant_about:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_about])* $variant,)+ }

        impl $name {
            /// Every choice.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word of every choice, as in settings.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word for this choice.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// The choice for a word.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}
