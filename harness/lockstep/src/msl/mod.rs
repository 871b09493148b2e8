//! Reads naga's MSL as Metal's own reflection would.
//!
//! A reader for the texts that naga 30.0.2 writes, not for MSL at large: [`arguments`] names the arguments of each entry point,
//! [`safety`] the accesses and loops that lack a guard.

pub mod arguments;
mod items;
pub mod safety;
mod tokens;

pub use items::ReadError;

/// Both readings of one text, which is split into tokens once.
///
/// # Errors
///
/// As [`arguments::read`] has.
pub fn read(text: &str) -> Result<(arguments::Reflection, safety::Safety), ReadError> {
    let tokens = tokens::tokens(text);
    let items = items::items(&tokens)?;
    Ok((arguments::read_items(text, &items)?, safety::check_items(&items)))
}
