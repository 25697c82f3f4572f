//! Every schema resource that references may lead to: the schema itself, what it embeds, the documents that the caller
//! supplies and the drafts' metaschemas, with their base URIs and anchors.

use std::borrow::Cow;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::escape_pointer;
use super::known::{Holds, Known, Vocabularies};
use super::uri::{percent_decode, resolve, split_fragment};
use crate::error::Error;
use crate::options::{Draft, SchemaOptions};

/// The base of a schema that names none.
const DEFAULT_BASE: &str = "json-schema:///";

/// Metaschemas of metaschemas that are followed to find a draft.
const MAX_METASCHEMAS: usize = 8;

/// Bytes of a base URI: every resource has one, so that long ones would multiply.
const MAX_URI: usize = 4_096;

/// Index of a resource in its [`Registry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ResourceId(usize);

/// A schema that has a URI of its own, or the root of a document.
#[derive(Debug)]
pub(super) struct Resource<'a> {
    base: String,
    root: &'a Value,
    pub(super) dialect: Dialect,
    anchors: FxHashMap<&'a str, Anchor<'a>>,
    /// Names of `$dynamicAnchor`s; the empty name is `$recursiveAnchor`.
    pub(super) dynamic: Vec<&'a str>,
}

#[derive(Clone, Copy, Debug)]
struct Anchor<'a> {
    value: &'a Value,
    dynamic: bool,
}

/// What a schema's `$schema` says about the meaning of its keywords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) draft: Draft,
    pub(super) vocabularies: Vocabularies,
}

impl Dialect {
    pub(super) const fn of(draft: Draft) -> Self {
        Self { draft, vocabularies: Vocabularies::ALL }
    }
}

/// What a reference leads to.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub(super) value: &'a Value,
    /// The anchor's name, where it is a dynamic one.
    pub(super) dynamic: Option<&'a str>,
}

/// How a subschema is reached from the one around it.
#[derive(Clone, Debug)]
struct Step<'a> {
    resource: ResourceId,
    parent: Option<&'a Value>,
    /// The keyword; for a document's root its name; for what stands at no keyword its whole path.
    keyword: Cow<'a, str>,
    member: Member<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Member<'a> {
    None,
    Name(&'a str),
    Item(usize),
}

/// A subschema is known by its address: the documents are borrowed as long as the registry lives.
fn address(value: &Value) -> *const Value {
    std::ptr::from_ref(value)
}

#[derive(Debug, Default)]
pub(super) struct Registry<'a> {
    resources: Vec<Resource<'a>>,
    by_uri: FxHashMap<String, ResourceId>,
    steps: FxHashMap<*const Value, Step<'a>>,
    supplied: FxHashMap<String, &'a Value>,
}

impl<'a> Registry<'a> {
    /// Reads the identifiers of the schema and of the documents supplied.
    pub(super) fn new(root: &'a Value, options: &'a SchemaOptions) -> Result<Self, Error> {
        let mut registry = Self::default();
        for (uri, document) in &options.documents {
            let uri = resolve(DEFAULT_BASE, split_fragment(uri).0);
            if let Some((own, _)) = identifier(document).map(split_fragment).filter(|(own, _)| !own.is_empty()) {
                registry.supplied.entry(resolve(&uri, own)).or_insert(document);
            }
            registry.supplied.insert(uri, document);
        }
        let default = Dialect::of(Draft::Draft202012);
        let declared = registry.declared(root).unwrap_or(default);
        let dialect = Dialect { draft: options.draft.unwrap_or(declared.draft), ..declared };
        registry.document(DEFAULT_BASE, String::new(), root, dialect)?;
        for (uri, document) in &options.documents {
            let own = registry.declared(document).unwrap_or(Dialect::of(dialect.draft));
            let base = resolve(DEFAULT_BASE, split_fragment(uri).0);
            registry.document(&base, format!("{}#", split_fragment(uri).0), document, own)?;
        }
        Ok(registry)
    }

    /// The schema itself.
    pub(super) const ROOT: ResourceId = ResourceId(0);

    pub(super) fn resource(&self, id: ResourceId) -> &Resource<'a> {
        &self.resources[id.0]
    }

    /// The resource that a subschema belongs to; `None` where it stands at no keyword.
    pub(super) fn resource_of(&self, value: &Value) -> Option<ResourceId> {
        self.steps.get(&address(value)).map(|step| step.resource)
    }

    /// The pointer of a subschema: a JSON pointer within the schema itself, after its URI within another document.
    pub(super) fn pointer_of(&self, value: &Value) -> String {
        let mut steps = Vec::new();
        let mut next = Some(value);
        while let Some(step) = next.and_then(|value| self.steps.get(&address(value))) {
            steps.push(step);
            next = step.parent;
        }
        let mut out = String::new();
        for step in steps.iter().rev() {
            if step.parent.is_some() {
                out.push('/');
            }
            out.push_str(&step.keyword);
            match step.member {
                Member::None => {}
                Member::Name(name) => {
                    out.push('/');
                    out.push_str(&escape_pointer(name));
                }
                Member::Item(i) => {
                    out.push('/');
                    out.push_str(&i.to_string());
                }
            }
        }
        out
    }

    /// The dialect that a `$schema` names, by way of the documents supplied.
    pub(super) fn dialect(&self, uri: &str) -> Option<Dialect> {
        let mut vocabularies = None;
        let mut uri = uri;
        for _ in 0..MAX_METASCHEMAS {
            if let Some(draft) = Draft::from_uri(uri) {
                let all = vocabularies.filter(|_| draft >= Draft::Draft201909).unwrap_or(Vocabularies::ALL);
                return Some(Dialect { draft, vocabularies: all });
            }
            let metaschema = self.metaschema(uri)?;
            // The first metaschema decides on vocabularies; those further on only lead to the draft.
            vocabularies = vocabularies.or(Some(match metaschema.get("$vocabulary") {
                Some(Value::Object(listed)) => {
                    listed.keys().fold(Vocabularies::BASE, |set, uri| set.with_uri(uri).unwrap_or(set))
                }
                _ => Vocabularies::ALL,
            }));
            uri = metaschema.get("$schema")?.as_str()?;
        }
        None
    }

    /// A metaschema among the documents supplied.
    pub(super) fn metaschema(&self, uri: &str) -> Option<&'a Value> {
        self.supplied.get(&resolve(DEFAULT_BASE, split_fragment(uri).0)).copied()
    }

    fn declared(&self, schema: &Value) -> Option<Dialect> {
        self.dialect(schema.get("$schema")?.as_str()?)
    }

    /// The subschema that a reference within a resource leads to, or why it leads nowhere.
    pub(super) fn target(&mut self, from: ResourceId, reference: &str) -> Result<Result<Target<'a>, String>, Error> {
        let (uri, fragment) = split_fragment(reference);
        let id = if uri.is_empty() {
            from
        } else {
            let uri = resolve(&self.resources[from.0].base, uri);
            let Some(id) = self.find(&uri)? else {
                let name = uri.strip_prefix(DEFAULT_BASE).unwrap_or(&uri);
                return Ok(Err(format!("but no document {name:?} is known")));
            };
            id
        };
        let Some(fragment) = percent_decode(fragment) else {
            return Ok(Err("whose fragment is not valid percent-encoding".to_owned()));
        };
        if fragment.is_empty() {
            let Resource { root, anchors, .. } = &self.resources[id.0];
            return Ok(Ok(Target { value: root, dynamic: anchors.get("").map(|_| "") }));
        }
        if fragment.starts_with('/') {
            let target = self.pointed_to(id, &fragment)?;
            return Ok(target.ok_or_else(|| "where the schema has nothing".to_owned()));
        }
        Ok(match self.resources[id.0].anchors.get_key_value(fragment.as_str()) {
            Some((name, anchor)) => Ok(Target { value: anchor.value, dynamic: anchor.dynamic.then_some(name) }),
            None => Err("and no subschema there has this anchor".to_owned()),
        })
    }

    /// The subschema with a dynamic anchor.
    pub(super) fn dynamic_anchor(&self, id: ResourceId, name: &str) -> Option<&'a Value> {
        self.resources[id.0].anchors.get(name).filter(|anchor| anchor.dynamic).map(|anchor| anchor.value)
    }

    fn pointed_to(&mut self, id: ResourceId, pointer: &str) -> Result<Option<Target<'a>>, Error> {
        let root = self.resources[id.0].root;
        let (mut value, mut resource) = (root, id);
        for segment in pointer.split('/').skip(1) {
            let next = match value {
                Value::Object(map) => map.get(&segment.replace("~1", "/").replace("~0", "~")),
                Value::Array(list) => array_index(segment).and_then(|i| list.get(i)),
                _ => None,
            };
            let Some(next) = next else { return Ok(None) };
            value = next;
            resource = self.resource_of(value).unwrap_or(resource);
        }
        if self.resource_of(value).is_none() {
            // Any place may be referred to, also one that is no subschema of its draft.
            let path = Cow::Owned(pointer[1..].to_owned());
            self.index(value, Step { resource, parent: Some(root), keyword: path, member: Member::None }, true)?;
        }
        Ok(Some(Target { value, dynamic: None }))
    }

    fn find(&mut self, uri: &str) -> Result<Option<ResourceId>, Error> {
        if let Some(&id) = self.by_uri.get(uri) {
            return Ok(Some(id));
        }
        let Some((value, draft)) = metaschema(uri) else { return Ok(None) };
        let own = identifier(value).map_or(uri, |id| split_fragment(id).0);
        if !self.by_uri.contains_key(own) {
            self.document(own, format!("{own}#"), value, Dialect::of(draft))?;
        }
        Ok(self.by_uri.get(own).copied())
    }

    /// Adds a document under the URI it was found at and the one it gives itself.
    fn document(&mut self, uri: &str, name: String, root: &'a Value, dialect: Dialect) -> Result<(), Error> {
        let own = root.as_object().and_then(|map| id_keyword(map, dialect.draft)).map_or("", |id| split_fragment(id).0);
        let id = self.add(resolve(uri, own), root, dialect);
        self.by_uri.entry(uri.to_owned()).or_insert(id);
        if let Some(named) = identifier(root).map(|id| split_fragment(id).0) {
            // A root's identifier names it even where `$ref` beside it keeps it from being the base.
            self.by_uri.entry(resolve(uri, named)).or_insert(id);
        }
        let step = Step { resource: id, parent: None, keyword: Cow::Owned(name), member: Member::None };
        if self.resources[id.0].base.len() > MAX_URI {
            return Err(Error::limit(&step.keyword, "uri_bytes", MAX_URI as u64));
        }
        self.index(root, step, false)
    }

    fn add(&mut self, base: String, root: &'a Value, dialect: Dialect) -> ResourceId {
        let id = ResourceId(self.resources.len());
        // Where two have one URI, the first keeps it.
        self.by_uri.entry(base.clone()).or_insert(id);
        let (anchors, dynamic) = (FxHashMap::default(), Vec::new());
        self.resources.push(Resource { base, root, dialect, anchors, dynamic });
        id
    }

    /// Notes every subschema from `start` on. `detached`: it stands at no keyword, so its anchors are none of the resource's.
    fn index(&mut self, start: &'a Value, step: Step<'a>, detached: bool) -> Result<(), Error> {
        let around = step.resource;
        let mut pending = vec![(start, step)];
        while let Some((value, step)) = pending.pop() {
            let outer = step.resource;
            match self.steps.entry(address(value)) {
                Entry::Occupied(_) => continue,
                Entry::Vacant(free) => free.insert(step),
            };
            let Value::Object(map) = value else { continue };
            let resource = self.identify(value, map, outer)?;
            if let Some(step) = self.steps.get_mut(&address(value)) {
                step.resource = resource;
            }
            if resource != around || !detached {
                self.note_anchors(value, map, resource);
            }
            subschemas(value, map, self.resources[resource.0].dialect.draft, resource, &mut pending);
        }
        Ok(())
    }

    /// The resource that an object opens, or the one around it.
    fn identify(
        &mut self,
        value: &'a Value,
        map: &'a Map<String, Value>,
        around: ResourceId,
    ) -> Result<ResourceId, Error> {
        let outer = &self.resources[around.0];
        if address(outer.root) == address(value) {
            return Ok(around);
        }
        let dialect = self.declared(value).unwrap_or(outer.dialect);
        let Some(id) = id_keyword(map, dialect.draft) else { return Ok(around) };
        let uri = split_fragment(id).0;
        let base = resolve(&outer.base, uri);
        if uri.is_empty() || base == outer.base {
            return Ok(around);
        }
        if base.len() > MAX_URI {
            return Err(Error::limit(&self.pointer_of(value), "uri_bytes", MAX_URI as u64));
        }
        Ok(self.add(base, value, dialect))
    }

    fn note_anchors(&mut self, value: &'a Value, map: &'a Map<String, Value>, id: ResourceId) {
        let resource = &mut self.resources[id.0];
        let mut note = |name: &'a str, dynamic: bool| {
            if let Entry::Vacant(free) = resource.anchors.entry(name) {
                free.insert(Anchor { value, dynamic });
                if dynamic {
                    resource.dynamic.push(name);
                }
            }
        };
        let named = |keyword: &str| map.get(keyword).and_then(Value::as_str).filter(|name| !name.is_empty());
        match resource.dialect.draft {
            draft @ (Draft::Draft4 | Draft::Draft6 | Draft::Draft7) => {
                let name = id_keyword(map, draft).map_or("", |id| split_fragment(id).1);
                if !name.is_empty() && !name.starts_with('/') {
                    note(name, false);
                }
            }
            Draft::Draft201909 => {
                if let Some(name) = named("$anchor") {
                    note(name, false);
                }
                if address(resource.root) == address(value) && map.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
                    note("", true);
                }
            }
            Draft::Draft202012 => {
                if let Some(name) = named("$dynamicAnchor") {
                    note(name, true);
                }
                if let Some(name) = named("$anchor") {
                    note(name, false);
                }
            }
        }
    }
}

/// The subschemas under an object's keywords, the first on top.
fn subschemas<'a>(
    value: &'a Value,
    map: &'a Map<String, Value>,
    draft: Draft,
    resource: ResourceId,
    pending: &mut Vec<(&'a Value, Step<'a>)>,
) {
    let from = pending.len();
    for (keyword, held) in map {
        let Some(known) = Known::named(keyword).filter(|known| known.is_in(draft)) else { continue };
        let mut push = |member: Member<'a>, schema: &'a Value| {
            if matches!(schema, Value::Object(_) | Value::Bool(_)) {
                let step = Step { resource, parent: Some(value), keyword: Cow::Borrowed(keyword.as_str()), member };
                pending.push((schema, step));
            }
        };
        match (known.holds, held) {
            (Holds::Schema | Holds::SchemaOrSchemas, Value::Object(_) | Value::Bool(_)) => push(Member::None, held),
            (Holds::Schemas | Holds::SchemaOrSchemas, Value::Array(list)) => {
                list.iter().enumerate().for_each(|(i, schema)| push(Member::Item(i), schema));
            }
            (Holds::Named, Value::Object(named)) => {
                named.iter().for_each(|(name, schema)| push(Member::Name(name), schema));
            }
            _ => {}
        }
    }
    pending[from..].reverse();
}

/// The identifier that counts in a draft.
fn id_keyword(map: &Map<String, Value>, draft: Draft) -> Option<&str> {
    if draft <= Draft::Draft7 && map.contains_key("$ref") {
        return None;
    }
    map.get(if draft == Draft::Draft4 { "id" } else { "$id" })?.as_str()
}

/// What a document calls itself, whatever its draft.
fn identifier(document: &Value) -> Option<&str> {
    document.get("$id").or_else(|| document.get("id"))?.as_str()
}

/// An array's index as a pointer spells it: without leading zeros.
fn array_index(segment: &str) -> Option<usize> {
    let plain = segment == "0" || (!segment.starts_with('0') && segment.bytes().all(|b| b.is_ascii_digit()));
    segment.parse().ok().filter(|_| plain)
}

/// One of the drafts' own metaschemas.
fn metaschema(uri: &str) -> Option<(&'static Value, Draft)> {
    use referencing::meta;
    let rest = uri.strip_prefix("http://").or_else(|| uri.strip_prefix("https://"))?;
    let rest = rest.strip_prefix("json-schema.org/")?;
    let value: &'static Value = match rest {
        "draft-04/schema" => &meta::DRAFT4,
        "draft-06/schema" => &meta::DRAFT6,
        "draft-07/schema" => &meta::DRAFT7,
        "draft/2019-09/schema" => &meta::DRAFT201909,
        "draft/2019-09/meta/applicator" => &meta::DRAFT201909_APPLICATOR,
        "draft/2019-09/meta/content" => &meta::DRAFT201909_CONTENT,
        "draft/2019-09/meta/core" => &meta::DRAFT201909_CORE,
        "draft/2019-09/meta/format" => &meta::DRAFT201909_FORMAT,
        "draft/2019-09/meta/meta-data" => &meta::DRAFT201909_META_DATA,
        "draft/2019-09/meta/validation" => &meta::DRAFT201909_VALIDATION,
        "draft/2020-12/schema" => &meta::DRAFT202012,
        "draft/2020-12/meta/applicator" => &meta::DRAFT202012_APPLICATOR,
        "draft/2020-12/meta/content" => &meta::DRAFT202012_CONTENT,
        "draft/2020-12/meta/core" => &meta::DRAFT202012_CORE,
        "draft/2020-12/meta/format-annotation" => &meta::DRAFT202012_FORMAT_ANNOTATION,
        "draft/2020-12/meta/format-assertion" => &meta::DRAFT202012_FORMAT_ASSERTION,
        "draft/2020-12/meta/meta-data" => &meta::DRAFT202012_META_DATA,
        "draft/2020-12/meta/unevaluated" => &meta::DRAFT202012_UNEVALUATED,
        "draft/2020-12/meta/validation" => &meta::DRAFT202012_VALIDATION,
        _ => return None,
    };
    let draft = Draft::ALL.into_iter().find(|draft| rest.starts_with(draft.folder()))?;
    Some((value, draft))
}
