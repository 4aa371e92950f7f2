//! Turns the panic of a block into a message, without the usual print on standard error: the message goes into the
//! error that the launch returns.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, Location};
use std::sync::Once;

thread_local! {
    /// Whether this thread is running a block.
    static IN_BLOCK: Cell<bool> = const { Cell::new(false) };
    /// Where this thread's block panicked.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a block; the error is the message of its panic, with the source line.
pub(super) fn catch(block: impl FnOnce()) -> Result<(), String> {
    listen();
    let outer = IN_BLOCK.replace(true);
    // What the block was writing when it panicked is device memory: plain numbers, that no later code can trust but
    // that cannot be in a broken state either.
    let result = panic::catch_unwind(AssertUnwindSafe(block)).map_err(|payload| {
        let message = text(&*payload);
        let message = match PLACE.take() {
            Some(place) if !message.contains(&place) => format!("{message}, at {place}"),
            _ => message,
        };
        discard(payload);
        message
    });
    IN_BLOCK.set(outer);
    result
}

/// Drops what a block panicked with, which may panic in turn: what comes of that is nobody's.
fn discard(payload: Box<dyn Any + Send>) {
    if let Err(another) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(another);
    }
    PLACE.take();
}

/// Puts a panic hook before the present one that notes a block's panic instead of printing it.
fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if IN_BLOCK.get() {
                PLACE.set(info.location().map(Location::to_string));
            } else {
                previous(info);
            }
        }));
    });
}

fn text(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic without a message".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_has_the_line() {
        let line = line!() + 1;
        let message = catch(|| panic!("tile {} is outside", 3)).unwrap_err();
        assert!(message.starts_with("tile 3 is outside, at "), "{message}");
        assert!(message.contains(&format!("panic.rs:{line}:")), "{message}");
    }

    #[test]
    fn a_message_that_names_its_place_is_left_alone() {
        let message = catch(|| {
            let place = Location::caller();
            panic::panic_any(format!("outside (kernel.rs:7), noticed at {place}"))
        });
        assert!(message.unwrap_err().starts_with("outside (kernel.rs:7), noticed at "));
    }

    #[test]
    fn a_payload_that_panics_when_it_is_dropped_is_a_message_too() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic::panic_any(Self)
            }
        }
        let message = catch(|| panic::panic_any(Bomb)).unwrap_err();
        assert!(message.starts_with("a panic without a message, at "), "{message}");
        assert!(!IN_BLOCK.get() && PLACE.take().is_none());
    }

    #[test]
    fn other_payloads_have_no_text() {
        let message = catch(|| panic::panic_any(7)).unwrap_err();
        assert!(message.starts_with("a panic without a message, at "), "{message}");
    }
}
