//! The stub refuses what a flash could not do.
#![allow(clippy::unwrap_used)]

use drivelab_firmware::flash::{Die, NandError};
use drivelab_ftl::OperationKind::{Erase, Program, Read};

fn die() -> Die {
    // Two blocks of four pages, behind another die of the same size.
    Die::new(8, 4, vec![0, 4])
}

#[test]
fn pages_are_programmed_in_order_and_once() {
    let mut die = die();
    let wrong = NandError::OutOfOrder {
        block: 0,
        page: 1,
        next: 0,
    };
    assert_eq!(die.execute(Program, 9), Err(wrong));
    for page in 8..12 {
        die.execute(Program, page).unwrap();
        assert!(die.execute(Program, page).is_err());
    }
    die.execute(Erase, 8).unwrap();
    die.execute(Program, 8).unwrap();
    assert_eq!(die.programmed(), [1, 4]);
}

#[test]
fn only_programmed_pages_are_read() {
    let mut die = die();
    let wrong = NandError::Unwritten {
        block: 0,
        page: 0,
        next: 0,
    };
    assert_eq!(die.execute(Read, 8), Err(wrong));
    die.execute(Program, 8).unwrap();
    die.execute(Read, 8).unwrap();
    die.execute(Read, 15).unwrap();
}

#[test]
fn pages_of_other_dies_are_refused() {
    for page in [0, 7, 16, u32::MAX] {
        assert_eq!(
            die().execute(Read, page),
            Err(NandError::NoSuchPage { page })
        );
    }
}
