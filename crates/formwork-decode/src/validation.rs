//! Whether a value fits a JSON Schema, by the `jsonschema` crate: an opinion independent of the constraint.

use jsonschema::{Draft, Retrieve, Uri, Validator};
use serde::Serialize;
use serde_json::Value;

use crate::error::Error;

/// The most violations that are listed.
const MOST_ERRORS: usize = 50;

/// The outcome of validating a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Validation {
    /// Whether it is valid.
    pub status: ValidationStatus,
    /// Its violations, the first 50.
    pub errors: Vec<Violation>,
}

/// Whether a value is valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ValidationStatus {
    /// It fits the schema.
    Valid,
    /// It doesn't.
    Invalid,
    /// There was no schema, or no value.
    #[default]
    NotRun,
}

/// One way in which a value doesn't fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Violation {
    /// JSON pointer into the value.
    pub instance_path: String,
    /// JSON pointer into the schema.
    pub schema_path: String,
    /// What is wrong.
    pub message: String,
}

/// A schema, ready to validate values against. Formats are checked, in every draft.
///
/// ```
/// use formwork_decode::{SchemaValidator, ValidationStatus};
/// use serde_json::json;
/// let validator = SchemaValidator::new(&json!({"type": "array", "maxItems": 1}), None)?;
/// assert_eq!(validator.validate(&json!([1])).status, ValidationStatus::Valid);
/// assert_eq!(validator.validate(&json!([1, 2])).errors[0].schema_path, "/maxItems");
/// # Ok::<(), formwork_decode::Error>(())
/// ```
#[derive(Debug)]
pub struct SchemaValidator(Validator);

impl SchemaValidator {
    /// A validator for `schema`. `draft` is one of `4`, `6`, `7`, `2019-09` and `2020-12`; where it is not given, the
    /// schema's `$schema` says which, else it is 2020-12.
    ///
    /// # Errors
    /// The schema is not valid itself, or refers to something that is not in it; an unknown draft.
    pub fn new(schema: &Value, draft: Option<&str>) -> Result<Self, Error> {
        Self::with_documents(schema, draft, &[])
    }

    /// As [`new`](Self::new), with the documents that the schema refers to, each with its URI. Nothing else is fetched.
    ///
    /// ```
    /// use formwork_decode::{SchemaValidator, ValidationStatus};
    /// use serde_json::json;
    /// let documents = [("https://example.com/name".to_owned(), json!({"type": "string"}))];
    /// let schema = json!({"items": {"$ref": "https://example.com/name"}});
    /// let validator = SchemaValidator::with_documents(&schema, None, &documents)?;
    /// assert_eq!(validator.validate(&json!([1])).status, ValidationStatus::Invalid);
    /// # Ok::<(), formwork_decode::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_documents(schema: &Value, draft: Option<&str>, documents: &[(String, Value)]) -> Result<Self, Error> {
        let mut options =
            jsonschema::options().should_validate_formats(true).with_retriever(Documents(documents.to_vec()));
        if let Some(name) = draft {
            options = options.with_draft(by_name(name)?);
        }
        options.build(schema).map(Self).map_err(|err| Error::schema(err.instance_path().to_string(), err.to_string()))
    }

    /// Validates a value.
    pub fn validate(&self, value: &Value) -> Validation {
        let errors: Vec<_> = self
            .0
            .iter_errors(value)
            .take(MOST_ERRORS)
            .map(|err| Violation {
                instance_path: err.instance_path().to_string(),
                schema_path: err.schema_path().to_string(),
                message: err.to_string(),
            })
            .collect();
        let status = if errors.is_empty() { ValidationStatus::Valid } else { ValidationStatus::Invalid };
        Validation { status, errors }
    }
}

/// The documents that a schema may refer to.
struct Documents(Vec<(String, Value)>);

impl Retrieve for Documents {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        let wanted = uri.as_str().trim_end_matches('#');
        let found = self.0.iter().find(|(uri, _)| uri.trim_end_matches('#') == wanted);
        found
            .map(|(_, document)| document.clone())
            .ok_or_else(|| format!("the document {wanted} was not supplied").into())
    }
}

fn by_name(name: &str) -> Result<Draft, Error> {
    match name {
        "4" => Ok(Draft::Draft4),
        "6" => Ok(Draft::Draft6),
        "7" => Ok(Draft::Draft7),
        "2019-09" => Ok(Draft::Draft201909),
        "2020-12" => Ok(Draft::Draft202012),
        _ => Err(Error::schema(String::new(), format!("there is no draft `{name}`"))),
    }
}
