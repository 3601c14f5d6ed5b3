//! Any text, with any list of requests, is a scenario or one line about what is wrong.
#![no_main]

use drivelab_sim::scenario::Scenario;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|texts: (&str, &str)| {
    let (text, csv) = texts;
    let told = |error: &dyn std::fmt::Display| assert_eq!(error.to_string().lines().count(), 1);
    match Scenario::read(text, &|_| Some(csv.to_owned())) {
        Ok(scenario) => {
            scenario.window().err().iter().for_each(|error| told(error));
            scenario
                .load(1 << 30, 0)
                .err()
                .iter()
                .for_each(|error| told(error));
        }
        Err(error) => told(&error),
    }
});
