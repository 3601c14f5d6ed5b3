//! Checks that a program marks what happens in it.

use object::{Object, ObjectSymbol};

use crate::Refusal;

/// Refuses a program without the function that marks.
pub fn check(file: &str) -> Result<(), Refusal> {
    let data = std::fs::read(file).map_err(|error| Refusal::File {
        file: file.to_string(),
        error,
    })?;
    let program = object::File::parse(&*data).map_err(|error| Refusal::Program {
        file: file.to_string(),
        error,
    })?;
    let marks = drivelab_processor::marks::FUNCTION;
    if program.symbols().any(|symbol| symbol.name() == Ok(marks)) {
        Ok(())
    } else {
        Err(Refusal::NoMark(file.to_string()))
    }
}
