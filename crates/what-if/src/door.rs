//! The interface to the outside: a module's functions, as C would declare them.
//!
//! ```text
//!   at = what_if_room(length)     a place for the question; its bytes are written there
//!   at = what_if_answer()         the answer, valid until the next call
//!        what_if_answer_length()  its bytes
//! ```
//!
//! Both texts are UTF-8. The module has one thread, and one simulator for it.

use std::cell::RefCell;

use crate::WhatIf;

#[derive(Default)]
struct Door {
    what_if: WhatIf,
    question: Vec<u8>,
    answer: String,
}

thread_local! {
    static DOOR: RefCell<Door> = RefCell::default();
}

/// Makes room for a question of `length` bytes. Returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn what_if_room(length: usize) -> *mut u8 {
    DOOR.with_borrow_mut(|door| {
        door.question.clear();
        door.question.resize(length, 0);
        door.question.as_mut_ptr()
    })
}

/// Answers the question stored there. Returns the address of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn what_if_answer() -> *const u8 {
    DOOR.with_borrow_mut(|door| {
        let question = String::from_utf8_lossy(&door.question);
        door.answer = door.what_if.answer(&question);
        door.answer.as_ptr()
    })
}

/// The length of the last answer in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn what_if_answer_length() -> usize {
    DOOR.with_borrow(|door| door.answer.len())
}
