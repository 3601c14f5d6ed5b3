//! Cycles of straight blocks against hand calculation, and against LLVM's model if it is installed.

use drivelab_processor::board::TargetParameters;
use drivelab_processor::board::decode::{Decoded, decode};
use drivelab_processor::board::pipeline::Issue;
use drivelab_processor::parameters::TARGET;

use super::assembler;

/// Cycles per turn, over many turns.
fn turn(words: &[u32]) -> f64 {
    let parameters = TargetParameters::from_toml(TARGET).expect("the package's target");
    let code: Vec<Decoded> = words.iter().copied().map(decode).collect();
    let mut issue = Issue::new(&parameters.pipeline);
    let mut after = |turns: u32| {
        for _ in 0..turns {
            issue.block(&code);
        }
        issue.cycles() as f64
    };
    let first = after(100);
    (after(100) - first) / 100.0
}

const ADD_X0_X0_1: u32 = 0x9100_0400;
const ADD_X1_X1_1: u32 = 0x9100_0421;
const ADD_X0_X0_X0_LSL_1: u32 = 0x8b00_0400;
const LDR_X0_X0: u32 = 0xf940_0000;
const LDR_X1_X0: u32 = 0xf940_0001;
const LDP_X1_X2_X0: u32 = 0xa940_0801;
const STP_X1_X2_X0: u32 = 0xa900_0801;
const STR_X1_X0: u32 = 0xf900_0001;
const MUL_X0_X0_X0: u32 = 0x9b00_7c00;
const CMP_X0_1: u32 = 0xf100_041f;
const CSEL_X0_X0_X1_EQ: u32 = 0x9a81_0000;
const NOP: u32 = 0xd503_201f;

#[test]
fn hand_calculated_turns() {
    for (words, cycles, why) in [
        (
            &[ADD_X0_X0_1][..],
            1.0,
            "each waits for the one before, forwarded after one cycle",
        ),
        (
            &[ADD_X0_X0_1, ADD_X1_X1_1],
            1.0,
            "two that know nothing of each other issue together",
        ),
        (
            &[ADD_X0_X0_1, ADD_X0_X0_1],
            2.0,
            "two that wait for each other do not",
        ),
        (
            &[ADD_X0_X0_X0_LSL_1],
            2.0,
            "a shifted operand is needed a cycle earlier",
        ),
        (&[LDR_X0_X0], 3.0, "a pointer is followed in three cycles"),
        (&[LDR_X1_X0], 1.0, "one load a cycle"),
        (
            &[LDR_X1_X0, ADD_X1_X1_1],
            2.0,
            "two cycles from a load to arithmetic, the next one beside it",
        ),
        (
            &[LDP_X1_X2_X0],
            2.0,
            "sixteen bytes are loaded in two cycles",
        ),
        (&[STP_X1_X2_X0], 1.0, "and stored in one"),
        (
            &[ADD_X1_X1_1, STR_X1_X0],
            1.0,
            "what was computed is stored in the same cycle",
        ),
        (
            &[MUL_X0_X0_X0],
            3.0,
            "a product is there after four cycles, and needed one after",
        ),
        (
            &[CMP_X0_1, CSEL_X0_X0_X1_EQ],
            2.0,
            "compare, choose on it, compare the choice",
        ),
        (&[NOP, NOP], 2.0, "one hint a cycle"),
    ] {
        assert!(
            (turn(words) - cycles).abs() < 0.011,
            "{why}: {} cycles",
            turn(words)
        );
    }
}

#[test]
fn a_branch_that_is_taken_costs_its_cycle() {
    let parameters = TargetParameters::from_toml(TARGET).expect("the package's target");
    let code = [decode(ADD_X0_X0_1)];
    let mut issue = Issue::new(&parameters.pipeline);
    issue.block(&code);
    assert_eq!(issue.cycles(), 1);
    issue.branch();
    issue.block(&code);
    assert_eq!(issue.cycles(), 2 + parameters.pipeline.taken_branch_cycles);
}

/// Where both descriptions agree, the cycles are equal; where LLVM charges full latencies (loads
/// into arithmetic, stores of fresh results, flags), ours are fewer, never more.
#[test]
fn straight_blocks_beside_llvm() {
    let same = 0.051;
    for (assembly, tolerance) in [
        ("add x0, x0, #1", same),
        ("add x0, x0, #1\nadd x1, x1, #1", same),
        (
            "add x0, x0, x1, lsl #2\nadd x2, x2, #3\nadd x3, x3, x2",
            same,
        ),
        (
            "add x0, x0, #1\neor x1, x1, x0\nand x2, x1, #15\norr x3, x3, x2",
            same,
        ),
        ("ldr x1, [x0]\nldr x2, [x0, #8]", same),
        ("str x1, [x0]\nstr x2, [x0, #8]\nadd x3, x3, #1", same),
        ("mul x0, x1, x2\nmul x3, x4, x5\nadd x6, x6, #1", same),
        ("madd x0, x0, x1, x2", same),
        ("cmp x0, #3\ncsel x1, x2, x3, eq\nadd x4, x4, x1", 0.6),
        (
            "ldr x1, [x0]\nadd x2, x2, x1\neor x3, x3, x2\nstr x3, [x0, #8]",
            0.6,
        ),
        (
            "ldr w1, [x0]\nlsr w2, w1, #3\nand w3, w2, #31\nldr x4, [x5, x3, lsl #3]\nadd x6, x6, x4",
            0.6,
        ),
        (
            "ldp x1, x2, [x0]\nadd x3, x1, x2\nstp x3, x2, [x0, #16]",
            0.6,
        ),
    ] {
        let (Some(words), Some(theirs)) = (assembler::words(assembly), assembler::cycles(assembly))
        else {
            let is_ci =
                std::env::var("CI").is_ok_and(|value| !["", "0", "false"].contains(&&*value));
            assert!(!is_ci, "LLVM's tools are needed: make system-packages");
            return;
        };
        let ours = turn(&words);
        let low = theirs * (1.0 - tolerance);
        let high = theirs * (1.0 + same);
        assert!(
            (low..=high).contains(&ours),
            "{assembly}: {ours} cycles, {theirs} by llvm-mca"
        );
    }
}
