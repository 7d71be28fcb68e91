//! Closed enums with named variants.

/// Declares an enum with the name of each variant, and gives it `ALL`, `name`, `Display` and `FromStr`.
///
/// Attributes and doc comments pass through; an enum that serde reads as well has
/// `#[serde(rename_all = "kebab-case")]`.
///
/// ```
/// mlsys_expr::named_enum! {
///     /// Where a lab runs.
///     #[derive(Clone, Copy, Debug, PartialEq)]
///     pub enum Backend {
///         /// NVIDIA's CUDA.
///         Cuda = "cuda",
///         /// The processor.
///         Cpu = "cpu",
///     }
/// }
///
/// assert_eq!(Backend::ALL, [Backend::Cuda, Backend::Cpu]);
/// assert_eq!(Backend::Cuda.name(), "cuda");
/// assert_eq!("cpu".parse(), Ok(Backend::Cpu));
/// assert_eq!("gpu".parse::<Backend>().unwrap_err().to_string(), "'gpu' is not one of cuda, cpu");
/// ```
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$about:meta])*
        $vis:vis enum $enum:ident {
            $($(#[$doc:meta])* $variant:ident = $name:literal),+ $(,)?
        }
    ) => {
        $(#[$about])*
        $vis enum $enum { $($(#[$doc])* $variant,)+ }

        impl $enum {
            /// Every variant, in the order of the declaration.
            $vis const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name in files, on the command line and on the screen.
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $enum {
            type Err = $crate::UnknownName;

            fn from_str(name: &str) -> Result<Self, $crate::UnknownName> {
                let found = Self::ALL.into_iter().find(|variant| variant.name() == name);
                found.ok_or_else(|| $crate::UnknownName {
                    name: name.to_owned(),
                    known: &[$($name),+],
                })
            }
        }
    };
}

/// A text that names no variant of an enum.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is not one of {}", .name.escape_debug(), .known.join(", "))]
pub struct UnknownName {
    pub name: String,
    pub known: &'static [&'static str],
}
