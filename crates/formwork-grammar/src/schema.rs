//! JSON Schema text → a checked [`Schema`].

mod ir;
mod keywords;
mod references;

pub use ir::{
    Applicator, ArrayRules, Bound, Contains, Keywords, Narrowed, Node, NodeId, NodeKind, NumberRules, ObjectRules,
    PatternProperty, Relaxed, Schema, StringRules, Type, TypeSet, Warning,
};

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::error::Error;
use crate::options::{Draft, SchemaOptions};

/// Reads a schema from its JSON text.
///
/// # Errors
/// Text that is not JSON (with line and column), a keyword with a value of the wrong kind, a keyword that can't be enforced, a
/// reference that leads nowhere or back to itself: each with its JSON pointer.
///
/// ```
/// use formwork_grammar::{parse_schema, SchemaOptions};
/// let schema = parse_schema(r#"{"type": "integer", "minimum": 3}"#, &SchemaOptions::default())?;
/// assert_eq!(schema.len(), 1);
/// # Ok::<(), formwork_grammar::Error>(())
/// ```
pub fn parse_schema(text: &str, options: &SchemaOptions) -> Result<Schema, Error> {
    let value: Value = serde_json::from_str(text).map_err(|e| Error::not_json(&e))?;
    schema_from_value(&value, options)
}

/// Reads a schema from a JSON value.
///
/// # Errors
/// As [`parse_schema`], but for the text.
pub fn schema_from_value(value: &Value, options: &SchemaOptions) -> Result<Schema, Error> {
    let mut parser = Parser::new(value, options)?;
    let root = parser.node("", value)?;
    while let Some((pointer, node)) = parser.pending.pop() {
        let Some(value) = value.pointer(&pointer) else { continue };
        let kind = parser.kind(&pointer, value)?;
        parser.nodes[node.index()].kind = kind;
    }
    let schema = Schema { nodes: parser.nodes, root, relaxed: parser.relaxed, narrowed: Vec::new(), warnings: parser.warnings };
    references::refuse_cycles(&schema)?;
    Ok(schema)
}

/// Reads subschemas, each pointer once; those met but not read yet are pending, so that depth costs no stack.
struct Parser<'a> {
    root: &'a Value,
    root_id: Option<&'a str>,
    draft: Draft,
    options: &'a SchemaOptions,
    nodes: Vec<Node>,
    by_pointer: FxHashMap<String, NodeId>,
    pending: Vec<(String, NodeId)>,
    relaxed: Vec<Relaxed>,
    warnings: Vec<Warning>,
}

impl<'a> Parser<'a> {
    fn new(root: &'a Value, options: &'a SchemaOptions) -> Result<Self, Error> {
        let declared = match root.get("$schema") {
            None => None,
            Some(Value::String(uri)) => Draft::from_uri(uri),
            Some(_) => return Err(Error::invalid("/$schema", "$schema", "it must be a string, the draft's URI")),
        };
        let draft = options.draft.or(declared).unwrap_or(Draft::Draft202012);
        let id_keyword = if draft == Draft::Draft4 { "id" } else { "$id" };
        Ok(Self {
            root,
            root_id: root.get(id_keyword).and_then(Value::as_str),
            draft,
            options,
            nodes: Vec::new(),
            by_pointer: FxHashMap::default(),
            pending: Vec::new(),
            relaxed: Vec::new(),
            warnings: Vec::new(),
        })
    }

    /// The node of the subschema at `pointer`, read now or later.
    fn node(&mut self, pointer: &str, value: &Value) -> Result<NodeId, Error> {
        if let Some(&id) = self.by_pointer.get(pointer) {
            return Ok(id);
        }
        let found = match value {
            Value::Bool(_) | Value::Object(_) => None,
            Value::Null => Some("null"),
            Value::Number(_) => Some("a number"),
            Value::String(_) => Some("a string"),
            Value::Array(_) => Some("an array"),
        };
        if let Some(found) = found {
            return Err(Error::not_a_schema(pointer, found));
        }
        let limit = self.options.limits.nodes;
        let id = NodeId::from_index(self.nodes.len()).filter(|id| id.index() < limit as usize);
        let id = id.ok_or_else(|| Error::limit(pointer, "nodes", u64::from(limit)))?;
        self.nodes.push(Node { pointer: pointer.to_owned(), kind: NodeKind::Always });
        self.by_pointer.insert(pointer.to_owned(), id);
        self.pending.push((pointer.to_owned(), id));
        Ok(id)
    }

    /// The node of a subschema that stands under a keyword of the schema at `pointer`.
    fn child(&mut self, pointer: &str, keyword: &str, value: &Value) -> Result<NodeId, Error> {
        self.node(&format!("{pointer}/{keyword}"), value)
    }

    fn kind(&mut self, pointer: &str, value: &Value) -> Result<NodeKind, Error> {
        match value {
            Value::Bool(true) => Ok(NodeKind::Always),
            Value::Bool(false) => Ok(NodeKind::Never),
            Value::Object(map) => Ok(NodeKind::Keywords(Box::new(self.keywords(pointer, map)?))),
            _ => Err(Error::not_a_schema(pointer, "not an object")),
        }
    }

    /// Refuses a keyword, or lists it where the options are lenient.
    fn refuse(&mut self, pointer: &str, keyword: &str, reason: &str) -> Result<(), Error> {
        let at = format!("{pointer}/{}", escape_pointer(keyword));
        if !self.options.lenient {
            return Err(Error::unsupported(&at, keyword, reason));
        }
        self.relaxed.push(Relaxed { pointer: at, keyword: keyword.to_owned(), reason: reason.to_owned() });
        Ok(())
    }

    fn warn(&mut self, pointer: &str, message: String) {
        self.warnings.push(Warning { pointer: pointer.to_owned(), message });
    }
}

/// A name as a JSON pointer spells it (RFC 6901).
pub(crate) fn escape_pointer(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
