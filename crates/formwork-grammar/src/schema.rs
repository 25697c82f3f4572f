//! JSON Schema text → a checked [`Schema`].

mod cycles;
mod ir;
mod keywords;
mod known;
mod references;
mod registry;
mod uri;
mod values;

pub use ir::{
    Applicator, ArrayRules, Bound, Contains, Keywords, Narrowed, Node, NodeId, NodeKind, NumberRules, ObjectRules,
    PatternProperty, Relaxed, Schema, StringRules, Type, TypeSet, Warning,
};

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::error::Error;
use crate::options::{Draft, SchemaOptions};
use known::{Known, Vocabularies};
use references::{ScopeId, Scopes};
use registry::{Dialect, Registry, ResourceId};
use values::At;

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
    let root = parser.root(value)?;
    while let Some(pending) = parser.pending.pop() {
        parser.read(pending)?;
    }
    let schema = Schema {
        nodes: parser.nodes,
        root,
        relaxed: parser.relaxed,
        narrowed: parser.narrowed,
        warnings: parser.warnings,
    };
    cycles::refuse(&schema)?;
    Ok(schema)
}

/// Bytes of all pointers together: each subschema has one, and a long name above many would multiply.
const MAX_POINTER_BYTES: usize = 64 << 20;

/// Reads subschemas, each once in a dynamic scope; those met but not read yet are pending, so that depth costs no stack.
struct Parser<'a> {
    options: &'a SchemaOptions,
    registry: Registry<'a>,
    scopes: Scopes<'a>,
    nodes: Vec<Node>,
    /// By address: the documents stay where they are.
    known: FxHashMap<(*const Value, ScopeId), NodeId>,
    pending: Vec<Pending<'a>>,
    pointer_bytes: usize,
    relaxed: Vec<Relaxed>,
    narrowed: Vec<Narrowed>,
    warnings: Vec<Warning>,
}

struct Pending<'a> {
    value: &'a Value,
    resource: ResourceId,
    scope: ScopeId,
    node: NodeId,
}

/// The subschema that is being read.
struct Site {
    pointer: String,
    resource: ResourceId,
    scope: ScopeId,
    draft: Draft,
    vocabularies: Vocabularies,
}

impl Site {
    fn at<'s>(&'s self, keyword: &'s str) -> At<'s> {
        At { schema: &self.pointer, keyword, member: None }
    }

    /// Whether the schema's draft and metaschema have a keyword.
    fn has(&self, keyword: &str) -> bool {
        Known::named(keyword)
            .is_some_and(|known| known.is_in(self.draft) && self.vocabularies.contains(known.vocabulary))
    }
}

impl<'a> Parser<'a> {
    fn new(root: &'a Value, options: &'a SchemaOptions) -> Result<Self, Error> {
        Ok(Self {
            options,
            registry: Registry::new(root, options)?,
            scopes: Scopes::new(),
            nodes: Vec::new(),
            known: FxHashMap::default(),
            pending: Vec::new(),
            pointer_bytes: 0,
            relaxed: Vec::new(),
            narrowed: Vec::new(),
            warnings: Vec::new(),
        })
    }

    fn root(&mut self, value: &'a Value) -> Result<NodeId, Error> {
        self.node(value, Registry::ROOT, Scopes::OUTSIDE, |_| String::new())
    }

    fn read(&mut self, Pending { value, resource, scope, node }: Pending<'a>) -> Result<(), Error> {
        let pointer = std::mem::take(&mut self.nodes[node.index()].pointer);
        let Dialect { draft, vocabularies } = self.registry.resource(resource).dialect;
        let site = Site { pointer, resource, scope, draft, vocabularies };
        let kind = match value {
            Value::Bool(false) => NodeKind::Never,
            Value::Object(map) => NodeKind::Keywords(Box::new(self.keywords(&site, map)?)),
            _ => NodeKind::Always,
        };
        self.nodes[node.index()] = Node { pointer: site.pointer, kind };
        Ok(())
    }

    /// The node of a subschema of `resource` that is reached from `scope`, read now or later.
    fn node(
        &mut self,
        value: &'a Value,
        resource: ResourceId,
        scope: ScopeId,
        pointer: impl FnOnce(&Registry<'a>) -> String,
    ) -> Result<NodeId, Error> {
        let Some(scope) = self.scopes.enter(&self.registry, scope, resource) else {
            return Err(Error::limit(&pointer(&self.registry), "dynamic_scopes", Scopes::MAX_LISTED as u64));
        };
        let key = (std::ptr::from_ref(value), scope);
        if let Some(&id) = self.known.get(&key) {
            return Ok(id);
        }
        let pointer = pointer(&self.registry);
        let found = match value {
            Value::Bool(_) | Value::Object(_) => None,
            Value::Null => Some("null"),
            Value::Number(_) => Some("a number"),
            Value::String(_) => Some("a string"),
            Value::Array(_) => Some("an array"),
        };
        if let Some(found) = found {
            return Err(Error::not_a_schema(&pointer, found));
        }
        let limit = self.options.limits.nodes;
        let id = NodeId::from_index(self.nodes.len()).filter(|id| id.index() < limit as usize);
        let id = id.ok_or_else(|| Error::limit(&pointer, "nodes", u64::from(limit)))?;
        self.spend(&pointer)?;
        self.nodes.push(Node { pointer, kind: NodeKind::Always });
        self.known.insert(key, id);
        self.pending.push(Pending { value, resource, scope, node: id });
        Ok(id)
    }

    /// The node of the subschema that is a keyword's value.
    fn child(&mut self, site: &Site, keyword: &str, value: &'a Value) -> Result<NodeId, Error> {
        self.below(site, At { member: None, ..site.at(keyword) }, value)
    }

    /// The node of a subschema that is a member of a keyword's value.
    fn member(&mut self, site: &Site, keyword: &str, member: &str, value: &'a Value) -> Result<NodeId, Error> {
        self.below(site, At { schema: &site.pointer, keyword, member: Some(member) }, value)
    }

    fn below(&mut self, site: &Site, at: At<'_>, value: &'a Value) -> Result<NodeId, Error> {
        let resource = self.registry.resource_of(value).unwrap_or(site.resource);
        self.node(value, resource, site.scope, |_| at.pointer())
    }

    fn warn(&mut self, at: At<'_>, message: String) -> Result<(), Error> {
        let pointer = at.pointer();
        self.spend(&pointer)?;
        self.warnings.push(Warning { pointer, message });
        Ok(())
    }

    fn spend(&mut self, pointer: &str) -> Result<(), Error> {
        self.pointer_bytes += pointer.len();
        if self.pointer_bytes > MAX_POINTER_BYTES {
            return Err(Error::limit(pointer, "pointer_bytes", MAX_POINTER_BYTES as u64));
        }
        Ok(())
    }

    /// Checks that a `$schema` is known, and that nothing its metaschema insists on is unknown.
    fn metaschema(&mut self, at: At<'_>, value: &Value) -> Result<(), Error> {
        let Value::String(uri) = value else { return Err(at.invalid("it must be a string, the draft's URI")) };
        if self.registry.dialect(uri).is_none() && self.options.draft.is_none() {
            let message = format!("the draft {uri:?} is unknown, so 2020-12 is taken; `draft` sets another");
            self.warn(at, message)?;
        }
        let listed = self.registry.metaschema(uri).and_then(|schema| schema.get("$vocabulary")?.as_object());
        for (uri, needed) in listed.into_iter().flatten() {
            if needed.as_bool() == Some(true) && !Vocabularies::knows(uri) {
                return Err(at.invalid(format!("its metaschema needs the vocabulary {uri:?}, which is unknown")));
            }
        }
        Ok(())
    }
}

/// A name as a JSON pointer spells it (RFC 6901).
pub(crate) fn escape_pointer(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
