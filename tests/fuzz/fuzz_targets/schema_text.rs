//! Any text as a schema: it is refused or compiled in bounded time, and the shortest text of what is compiled is accepted.
#![no_main]

use formwork_automaton::{Automaton, Frames, JsonAutomaton, Spelling, Step};
use formwork_grammar::{Limits, SchemaOptions, parse_schema};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // Each key is held against all before it: texts of megabytes take the sanitizer minutes to read.
    let mut limits = Limits::default();
    limits.shortest_text = 1 << 16;
    let options = SchemaOptions::default().limits(limits);
    let Ok(schema) = parse_schema(text, &options) else { return };
    let Ok(automaton) = JsonAutomaton::new(schema, &options, Spelling::default()) else { return };
    let mut seq = Frames::new();
    let mut state = automaton.start(&mut seq);
    for symbol in automaton.witness(&seq, state).symbols {
        let Step::To(next) = automaton.step(&mut seq, state, symbol) else { panic!("the witness is refused") };
        state = next;
    }
    assert!(automaton.is_accepting(&seq, state), "the witness does not end");
});
