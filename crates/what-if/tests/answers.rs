//! Answers, and refusals in a sentence.

use drivelab_what_if::WhatIf;
use serde_json::{Value, json};

fn asked(what_if: &mut WhatIf, question: &Value) -> Value {
    serde_json::from_str(&what_if.answer(&question.to_string())).unwrap()
}

fn drive() -> Value {
    json!({ "preset": "slc-b", "most_pages": 1 << 17 })
}

fn measure(drive: &Value, write_ratio: f64, queue_depth: u32) -> Value {
    json!({
        "ask": "measure",
        "drive": drive,
        "workload": {
            "write_ratio": write_ratio, "queue_depth": queue_depth, "size_bytes": 4096,
            "is_random": true
        },
        "window": {
            "warmup_requests": 100, "requests": 500, "half_width_ratio": 0.05,
            "max_requests": 2000
        }
    })
}

#[test]
fn every_preset_is_offered_or_refused_for_a_reason() {
    let answer = asked(&mut WhatIf::default(), &json!({ "ask": "presets" }));
    let presets = answer["presets"].as_array().unwrap();
    assert_eq!(presets.len(), drivelab_sim::preset::names().len());
    for preset in presets {
        let is_offered = preset["refusal"].is_null();
        assert!(!is_offered || preset["channels"].is_u64(), "{preset}");
        if is_offered {
            let question = json!({
                "ask": "drive", "drive": { "preset": preset["name"], "most_pages": 1 << 19 }
            });
            let answer = asked(&mut WhatIf::default(), &question);
            assert!(answer["error"].is_null(), "{answer}");
        }
    }
    let refused = |name: &str| {
        let of = presets.iter().find(|preset| preset["name"] == name);
        of.unwrap()["refusal"].as_str().unwrap().to_owned()
    };
    assert!(refused("sas-15k").contains("hard disk"));
    assert!(refused("array-x25m").contains("array"));
    assert!(refused("mlc-d").contains("\"fast\""));
}

#[test]
fn a_drive_at_hand_answers_as_one_that_is_made_anew() {
    let mut one = WhatIf::default();
    let slower = json!({ "preset": "slc-b", "most_pages": 1 << 17, "program_cell_ns": 500_000 });
    let questions = [
        measure(&drive(), 0.0, 4),
        measure(&drive(), 1.0, 4),
        // In the same states, with other times.
        measure(&slower, 1.0, 4),
        measure(&drive(), 0.5, 1),
        measure(&drive(), 1.0, 4),
    ];
    for question in questions {
        let again = asked(&mut WhatIf::default(), &question);
        let answer = asked(&mut one, &question);
        assert!(answer["error"].is_null(), "{answer}");
        assert_eq!(answer, again, "{question}");
    }
}

#[test]
fn what_cannot_be_answered_is_said_in_a_sentence() {
    let mut what_if = WhatIf::default();
    let mut refused = |question: &str| {
        let answer: Value = serde_json::from_str(&what_if.answer(question)).unwrap();
        answer["error"].as_str().unwrap().to_owned()
    };
    assert!(refused("{").contains("no question"));
    assert!(refused("{\"ask\": \"drive\", \"of\": 1}").contains("of"));
    let with = |key: &str, value: Value| {
        let mut drive = drive();
        drive[key] = value;
        measure(&drive, 1.0, 1).to_string()
    };
    assert!(refused(&with("preset", "nothing".into())).contains("\"nothing\""));
    assert!(refused(&with("preset", "mlc-g".into())).contains("bast"));
    assert!(refused(&with("channels", 0.into())).contains("1 to 256"));
    assert!(refused(&with("over_provisioning_ratio", 0.0001.into())).contains("over_prov"));
    let large = json!({
        "preset": "enterprise-tlc-pcie4", "most_pages": 1 << 19, "channels": 128
    });
    assert!(refused(&measure(&large, 1.0, 1).to_string()).contains("too large for a page"));
    assert!(refused(&measure(&drive(), 1.0, 0).to_string()).contains("queue_depth"));
    assert!(refused(&measure(&drive(), 1.5, 1).to_string()).contains("write_ratio"));
}
