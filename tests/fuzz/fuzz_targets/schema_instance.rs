//! A schema and, on the line after it, an instance: what is accepted is valid, and every prefix that is alive can be completed.
#![no_main]

use formwork_automaton::{Automaton, Frames, JsonAutomaton, Spelling, Step, Symbol};
use formwork_grammar::{Escapes, Limits, Numbers, PropertyOrder, SchemaOptions, Whitespace, parse_schema};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|data: &str| {
    let Some((schema, instance)) = data.split_once('\n') else { return };
    // A text is completed after every byte.
    let mut limits = Limits::default();
    limits.shortest_text = 1 << 16;
    let options = SchemaOptions::default()
        .limits(limits)
        .whitespace(Whitespace::Flexible(2))
        .property_order(PropertyOrder::Any)
        .escapes(Escapes::Any)
        .numbers(Numbers::Any);
    let Ok(checked) = parse_schema(schema, &options) else { return };
    let Ok(value) = serde_json::from_str::<Value>(schema) else { return };
    let Ok(automaton) = JsonAutomaton::new(checked, &options, Spelling::default()) else { return };
    let mut seq = Frames::new();
    let mut state = automaton.start(&mut seq);
    let mut is_whole = true;
    for byte in instance.bytes() {
        let Step::To(next) = automaton.step(&mut seq, state, Symbol::Byte(byte)) else {
            is_whole = false;
            break;
        };
        state = next;
        let mark = seq.mark();
        let mut at = state;
        for symbol in automaton.witness(&seq, state).symbols {
            let Step::To(next) = automaton.step(&mut seq, at, symbol) else { panic!("the witness is refused") };
            at = next;
        }
        assert!(automaton.is_accepting(&seq, at), "the witness does not end");
        seq.truncate(mark);
    }
    if is_whole
        && automaton.is_accepting(&seq, state)
        && let Ok(instance) = serde_json::from_str::<Value>(instance)
        && let Ok(validator) = jsonschema::options().should_validate_formats(false).build(&value)
    {
        assert!(validator.is_valid(&instance), "{value} does not allow {instance}");
    }
});
