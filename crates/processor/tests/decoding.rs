//! Instructions of A64 and what matters of them, reviewed by hand; LLVM's assembler made the
//! words.

use drivelab_processor::board::decode::{FLAGS, Need, decode};
use drivelab_processor::code::Control;

/// The unit, the registers read and their needs, the registers written, and other properties.
fn described(word: u32) -> String {
    let decoded = decode(word);
    let name = |register: usize| match register {
        0..=30 => format!("x{register}"),
        32..=63 => format!("v{}", register - 32),
        _ => {
            assert_eq!(register, FLAGS as usize);
            "flags".to_string()
        }
    };
    let mut words = vec![format!("{:?}", decoded.unit)];
    for (register, need) in decoded.reads() {
        let why = match need {
            Need::Address => "@",
            Need::Operand => "",
            Need::Shifted => "<",
            Need::Stored => "!",
            Need::Asked => "?",
        };
        words.push(format!("{why}{}", name(register)));
    }
    words.push(format!("-> {:?}", decoded.latency));
    words.extend(decoded.writes().map(name));
    if let Some(base) = decoded.base_written() {
        words.push(format!("+{}", name(base)));
    }
    for (is, word) in [
        (decoded.loads, "loads"),
        (decoded.stores, "stores"),
        (decoded.orders, "orders"),
        (decoded.wide, "wide"),
        (decoded.alone, "alone"),
    ] {
        if is {
            words.push(word.to_string());
        }
    }
    if decoded.bytes > 0 {
        words.push(decoded.bytes.to_string());
    }
    if decoded.control != Control::Next {
        words.push(format!("{:?}", decoded.control));
    }
    words.join(" ")
}

#[rustfmt::skip]
const KNOWN: &[(u32, &str, &str)] = &[
    (0x8b020020, "add x0, x1, x2", "Alu x1 x2 -> Alu x0"),
    (0x8b020c20, "add x0, x1, x2, lsl #3", "Alu x1 <x2 -> Alu x0"),
    (0x2b250083, "adds w3, w4, w5, uxtb", "Alu x4 <x5 -> Alu x3 flags"),
    (0xf100103f, "cmp x1, #4", "Alu x1 -> Alu flags"),
    (0xd2800187, "mov x7, #12", "Alu -> Shift x7"),
    (0xf2a00187, "movk x7, #12, lsl #16", "Alu x7 -> Shift x7"),
    (0xb0000003, "adrp x3, #4096", "Alu -> Shift x3"),
    (0xd37df041, "lsl x1, x2, #3", "Alu <x2 -> Shift x1"),
    (0xd3431c41, "ubfx x1, x2, #3, #5", "Alu <x2 -> Alu x1"),
    (0xb37d1041, "bfi x1, x2, #3, #5", "Alu <x2 x1 -> Alu x1"),
    (0x93c31c41, "extr x1, x2, x3, #7", "Alu <x2 <x3 -> Alu x1"),
    (0x9ac32041, "lsl x1, x2, x3", "Alu <x2 <x3 -> Shift x1"),
    (0x9ac30841, "udiv x1, x2, x3", "Divide <x2 <x3 -> Divide x1"),
    (0x9b020c20, "madd x0, x1, x2, x3", "Multiply <x1 <x2 x3 -> Multiply x0"),
    (0x9bc27c20, "umulh x0, x1, x2", "Multiply <x1 <x2 -> Multiply x0"),
    (0x9a820020, "csel x0, x1, x2, eq", "Alu x1 x2 flags -> Alu x0"),
    (0xfa420020, "ccmp x1, x2, #0, eq", "Alu x1 flags x2 -> Alu flags"),
    (0xfa420820, "ccmp x1, #2, #0, eq", "Alu x1 flags -> Alu flags"),
    (0x9a020020, "adc x0, x1, x2", "Alu x1 x2 flags -> Alu x0"),
    (0xdac01020, "clz x0, x1", "Alu x1 -> Alu x0"),
    (0xb4000045, "cbz x5, #8", "Branch x5 -> Alu Conditional"),
    (0x37180045, "tbnz w5, #3, #8", "Branch x5 -> Alu Conditional"),
    (0x54000040, "b.eq #8", "Branch ?flags -> Alu Conditional"),
    (0x14000002, "b #8", "Branch -> Alu Direct"),
    (0x94000002, "bl #8", "Branch -> Alu x30 Call"),
    (0xd61f0200, "br x16", "Branch @x16 -> Alu Indirect"),
    (0xd63f0100, "blr x8", "Branch @x8 -> Alu x30 IndirectCall"),
    (0xd65f03c0, "ret", "Branch @x30 -> Alu Return"),
    (0xd4000001, "svc #0", "Branch -> Alu"),
    (0xd503201f, "nop", "Branch -> Alu"),
    (0xd5033bbf, "dmb ish", "Branch -> Alu orders alone"),
    (0xd53bd043, "mrs x3, TPIDR_EL0", "Branch -> Alu x3 alone"),
    (0xf9400041, "ldr x1, [x2]", "Memory @x2 -> Load x1 loads 8"),
    (0xf8408441, "ldr x1, [x2], #8", "Memory @x2 -> Load x1 +x2 loads 8"),
    (0xf8408c41, "ldr x1, [x2, #8]!", "Memory @x2 -> Load x1 +x2 loads 8"),
    (0xb8a37841, "ldrsw x1, [x2, x3, lsl #2]", "Memory @x2 @x3 -> Load x1 loads 4"),
    (0x39401441, "ldrb w1, [x2, #5]", "Memory @x2 -> Load x1 loads 1"),
    (0x79000041, "strh w1, [x2]", "Memory @x2 !x1 -> Load stores 2"),
    (0xf85f8041, "ldur x1, [x2, #-8]", "Memory @x2 -> Load x1 loads 8"),
    (0xf9800040, "prfm pldl1keep, [x2]", "Memory @x2 -> Load 8"),
    (0x58000201, "ldr x1, #64", "Memory -> Load x1 loads 8"),
    (0xa9400861, "ldp x1, x2, [x3]", "Memory @x3 -> Load x1 x2 loads 16"),
    (0x69400861, "ldpsw x1, x2, [x3]", "Memory @x3 -> Load x1 x2 loads 8"),
    (0xa9be7bfd, "stp x29, x30, [sp, #-32]!", "Memory !x29 !x30 -> Load stores 16"),
    (0xacc10460, "ldp q0, q1, [x3], #32", "Memory @x3 -> Load v0 v1 +x3 loads 32"),
    (0x3d800060, "str q0, [x3]", "Memory @x3 !v0 -> Load stores 16"),
    (0xfc646860, "ldr d0, [x3, x4]", "Memory @x3 @x4 -> Load v0 loads 8"),
    (0xc85f7c41, "ldxr x1, [x2]", "Memory @x2 -> Load x1 loads orders 8"),
    (0xc8037c41, "stxr w3, x1, [x2]", "Memory @x2 !x1 -> Load x3 stores orders 8"),
    (0x88dffc41, "ldar w1, [x2]", "Memory @x2 -> Load x1 loads orders 4"),
    (0x889ffc41, "stlr w1, [x2]", "Memory @x2 !x1 -> Load stores orders 4"),
    (0xf8210062, "ldadd x1, x2, [x3]", "Memory @x3 !x1 -> Load x2 loads stores orders 8"),
    (0xc8a17c62, "cas x1, x2, [x3]", "Memory @x3 !x1 !x2 -> Load x1 loads stores orders 8"),
    (0x4cdfa000, "ld1 { v0.16b, v1.16b }, [x0], #32", "Memory @x0 -> Load v0 v1 +x0 loads 32"),
    (0x4c007000, "st1 { v0.16b }, [x0]", "Memory @x0 !v0 -> Load stores 16"),
    (0x4d40c800, "ld1r { v0.4s }, [x0]", "Memory @x0 -> Load v0 loads 16"),
    (0x4ea28420, "add v0.4s, v1.4s, v2.4s", "Vector @v1 @v2 -> Vector v0 wide"),
    (0x4e010c20, "dup v0.16b, w1", "Vector x1 -> Vector v0 wide"),
    (0x0e073c01, "umov w1, v0.b[3]", "Vector @v0 -> Vector x1"),
    (0x9e660001, "fmov x1, d0", "Vector @v0 -> Vector x1"),
    (0x9e670020, "fmov d0, x1", "Vector x1 -> Vector v0"),
    (0x1e622820, "fadd d0, d1, d2", "Vector @v1 @v2 -> Vector v0"),
    (0x1e621820, "fdiv d0, d1, d2", "VectorDivide @v1 @v2 -> VectorDivide v0"),
    (0x1e622020, "fcmp d1, d2", "Vector @v1 @v2 -> Vector flags"),
    (0x1e61c020, "fsqrt d0, d1", "VectorDivide @v1 -> VectorDivide v0"),
    (0x9e620020, "scvtf d0, x1", "Vector x1 -> Vector v0"),
    (0x9e780020, "fcvtzs x0, d1", "Vector @v1 -> Vector x0"),
    (0x1e620c20, "fcsel d0, d1, d2, eq", "Vector @v1 @v2 flags -> Vector v0"),
    (0x1f420c20, "fmadd d0, d1, d2, d3", "Vector @v1 @v2 @v3 -> Vector v0"),
    (0xd50b7420, "dc zva, x0", "Memory @x0 -> Load stores 64"),
];

#[test]
fn every_group_of_instructions() {
    for &(word, assembly, expected) in KNOWN {
        assert_eq!(described(word), expected, "{assembly}");
    }
}

#[test]
fn words_that_mean_nothing_are_some_operation() {
    for word in (0..u32::MAX).step_by(65_521) {
        let decoded = decode(word);
        assert!(
            decoded
                .reads()
                .all(|(register, _)| register <= FLAGS as usize)
        );
        assert!(decoded.writes().all(|register| register <= FLAGS as usize));
    }
}
