//! Processors and code: an accepted processor must handle and count any code.

use drivelab_processor::board::{Target, TargetParameters};
use drivelab_processor::code::Instruction;
use drivelab_processor::host::{Host, HostParameters};
use drivelab_processor::marks::Mark;
use drivelab_processor::model::Model;
use drivelab_processor::parameters::{HOST, TARGET};

use crate::{Reader, check_message};

pub(crate) const READER: Reader = Reader {
    name: "processor",
    sources: &["crates/processor/src/"],
    check,
    seeds,
};

/// The text of a processor, a zero byte, and code.
fn check(data: &[u8]) {
    let text = data.split(|byte| *byte == 0).next().unwrap_or_default();
    let code = &data[(text.len() + 1).min(data.len())..];
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    // Each kind refuses the other's text.
    match HostParameters::from_toml(text) {
        Ok(parameters) => runs(&mut Host::new(parameters), code, 3),
        Err(error) => check_message(&error),
    }
    match TargetParameters::from_toml(text) {
        Ok(parameters) => runs(&mut Target::new(parameters), code, 4),
        Err(error) => check_message(&error),
    }
}

/// Runs code with instructions of `bytes` bytes, four in a block. Bytes also serve as places of
/// marks and of accesses.
fn runs(model: &mut impl Model, code: &[u8], bytes: usize) {
    let mut values = Vec::new();
    let mut executed = 0;
    model.mark(Mark::Begin, &mut values);
    let instructions: Vec<Instruction<'_>> = code
        .chunks_exact(bytes)
        .zip((0x1000..).step_by(bytes))
        .map(|(bytes, address)| Instruction { address, bytes })
        .collect();
    for (number, block) in instructions.chunks(4).enumerate() {
        let id = model.translate(block, true);
        model.enter(id);
        executed += block.len() as u64;
        let address = (u64::from(block[0].bytes[0]) << 40) + u64::from(block[0].bytes[1]) * 61;
        model.access(number, address, 8, block[0].bytes[2] & 1 == 1);
        let place = usize::from(block[0].bytes[1]) * 16;
        if let Some(mark) = Mark::of_place(place).filter(|mark| !ends(*mark)) {
            model.mark(mark, &mut values);
        }
    }
    assert!(values.is_empty(), "a record that was not asked for");
    model.mark(Mark::Record, &mut values);
    let columns = model.columns();
    assert_eq!(values.len(), columns.len());
    let counted = columns
        .iter()
        .position(|column| column.name == "instructions");
    assert_eq!(counted.map(|place| values[place]), Some(executed));
}

fn ends(mark: Mark) -> bool {
    matches!(mark, Mark::Begin | Mark::End | Mark::Record)
}

fn seeds() -> Vec<Vec<u8>> {
    // Additions, loads, branches, returns.
    let arm: [u32; 8] = [
        0x9100_0400,
        0xf940_0001,
        0x54ff_ffe1,
        0xd65f_03c0,
        0xf900_0001,
        0x9ac3_0841,
        0x4cdf_a000,
        0xd503_201f,
    ];
    let arm: Vec<u8> = arm.iter().flat_map(|word| word.to_le_bytes()).collect();
    let x86 = b"\x48\x8b\x03\x83\xf8\x05\x75\xf8\x90\xf3\xa4\xc3\xe8\x00\x00\xff\xd0\x90";
    [(TARGET, &arm[..]), (HOST, &x86[..])]
        .map(|(text, code)| [text.as_bytes(), &[0], code].concat())
        .to_vec()
}
