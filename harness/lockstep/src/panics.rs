//! Panics that are answers, of naga, wgpu or wgpu-hal: caught, and not printed. Where a panic would be a fault of this program, as around a
//! whole case, `catch_unwind` alone leaves its message on the terminal.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// What `body` gives, or what its panic said. All other panics are printed as before.
pub fn caught<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                before(info);
            }
        }));
    });
    let before = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(body));
    GUARDED.set(before);
    result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        text.unwrap_or("no message").to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::caught;

    #[test]
    fn a_panic_is_what_it_said() {
        assert_eq!(caught(|| 3), Ok(3));
        assert_eq!(caught(|| -> u8 { panic!("over {}", 8) }), Err("over 8".to_owned()));
    }
}
