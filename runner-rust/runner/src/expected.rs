//! Expectations of a configuration: a recursive subset of the counters.

use serde_json::{Map, Value};

use crate::errors::{Failure, Outcome};

/// Compare objects by the keys that `expected` has, and everything else by JSON equality.
pub fn check(expected: &Map<String, Value>, counters: &Value) -> Outcome<()> {
    for (key, wanted) in expected {
        compare(key, wanted, counters.get(key))?;
    }
    Ok(())
}

fn compare(path: &str, wanted: &Value, found: Option<&Value>) -> Outcome<()> {
    let Some(found) = found else {
        return Err(Failure::new(format!(
            "expected {path} = {wanted}, but there is no such counter"
        )));
    };
    if let (Value::Object(wanted), Value::Object(_)) = (wanted, found) {
        for (key, inner) in wanted {
            compare(&format!("{path}.{key}"), inner, found.get(key))?;
        }
        return Ok(());
    }
    if wanted == found {
        return Ok(());
    }
    Err(Failure::new(format!(
        "expected {path} = {wanted}, found {found}"
    )))
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::check;

    fn outcome(expected: Value) -> Result<(), String> {
        let counters = json!({"completed_requests": 2, "decode_workers": [0, 1],
                              "terminal_counts": {"completed": 2}, "virtual_duration_ms": 14.0});
        let expected: Map<String, Value> = serde_json::from_value(expected).expect("an object");
        check(&expected, &counters).map_err(|failure| failure.one_line())
    }

    #[test]
    fn a_subset_of_the_counters_is_enough() {
        assert_eq!(outcome(json!({})), Ok(()));
        let part = json!({"completed_requests": 2, "terminal_counts": {"completed": 2}, "virtual_duration_ms": 14.0});
        assert_eq!(outcome(part), Ok(()));
    }

    #[test]
    fn a_difference_names_its_place_and_both_values() {
        let cases = [
            (
                json!({"completed_requests": 3}),
                "expected completed_requests = 3, found 2",
            ),
            (
                json!({"decode_workers": [0]}),
                "expected decode_workers = [0], found [0,1]",
            ),
            (
                json!({"terminal_counts": {"failed": 1}}),
                "expected terminal_counts.failed = 1, but there is no such counter",
            ),
            (
                json!({"retries": 0}),
                "expected retries = 0, but there is no such counter",
            ),
        ];
        for (expected, message) in cases {
            assert_eq!(outcome(expected), Err(message.to_owned()));
        }
    }
}
