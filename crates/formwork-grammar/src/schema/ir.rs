//! The checked form of a schema: a graph of subschemas with their keywords, references resolved.

use indexmap::IndexMap;
use serde_json::Value;

use crate::decimal::Decimal;
use crate::format::StringFormat;
use crate::regex::Regex;

/// Index of a subschema in its [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    pub(crate) fn from_index(index: usize) -> Option<Self> {
        u32::try_from(index).ok().map(Self)
    }

    /// The index as a number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A schema, checked and with its references resolved.
#[derive(Clone, Debug)]
pub struct Schema {
    pub(crate) nodes: Vec<Node>,
    pub(crate) root: NodeId,
    /// Keywords that `lenient` left to validation.
    pub(crate) relaxed: Vec<Relaxed>,
    /// Keywords enforced by a narrower language.
    pub(crate) narrowed: Vec<Narrowed>,
    pub(crate) warnings: Vec<Warning>,
}

impl Schema {
    /// The root's subschema.
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// A subschema.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// How many subschemas there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no subschema: never, since the root is one.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The keywords of every subschema that has some.
    pub fn keywords(&self) -> impl Iterator<Item = &Keywords> {
        self.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Keywords(keywords) => Some(&**keywords),
            NodeKind::Always | NodeKind::Never => None,
        })
    }

    /// Keywords that are not enforced, only validated afterwards (empty unless `lenient`).
    pub fn relaxed(&self) -> &[Relaxed] {
        &self.relaxed
    }

    /// Keywords that are enforced more strictly than they say: every text is valid, but some valid values can't be written.
    pub fn narrowed(&self) -> &[Narrowed] {
        &self.narrowed
    }

    /// What looks like a mistake but is legal.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

/// A keyword that `lenient` left to validation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relaxed {
    /// Where it stands.
    pub pointer: String,
    /// Its name.
    pub keyword: String,
    /// Why it is not enforced.
    pub reason: String,
}

/// A keyword that is enforced by a narrower language, because its own has no practical automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrowed {
    /// Where it stands.
    pub pointer: String,
    /// Its name.
    pub keyword: String,
    /// What is left out.
    pub reason: String,
}

/// Something legal that looks like a mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Where it stands.
    pub pointer: String,
    /// What is odd about it.
    pub message: String,
}

/// A subschema and where it was written.
#[derive(Clone, Debug)]
pub struct Node {
    /// JSON pointer of the subschema.
    pub pointer: String,
    /// What it says.
    pub kind: NodeKind,
}

/// What a subschema says.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// `true`
    Always,
    /// `false`
    Never,
    /// An object of keywords.
    Keywords(Box<Keywords>),
}

/// The keywords of one subschema; all hold at once.
#[derive(Clone, Debug, Default)]
pub struct Keywords {
    /// `type`
    pub types: TypeSet,
    /// `enum` and `const`: each list holds the values allowed.
    pub values: Vec<Vec<Value>>,
    /// Keywords that bear on numbers.
    pub number: NumberRules,
    /// Keywords that bear on strings.
    pub string: StringRules,
    /// Keywords that bear on arrays.
    pub array: ArrayRules,
    /// Keywords that bear on objects.
    pub object: ObjectRules,
    /// `properties` and the in-place applicators, in document order.
    pub applicators: Vec<Applicator>,
}

/// What applies other subschemas in place, or declares names: in document order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applicator {
    /// `properties` stands here.
    Properties,
    /// `$ref`
    Ref(NodeId),
    /// `allOf`
    AllOf(Vec<NodeId>),
    /// `anyOf`
    AnyOf(Vec<NodeId>),
    /// `oneOf`: exactly one holds.
    OneOf(Vec<NodeId>),
    /// `not`
    Not(NodeId),
    /// `if` with its `then` and `else`
    If {
        /// `if`
        condition: NodeId,
        /// `then`, where there is one.
        then: Option<NodeId>,
        /// `else`, where there is one.
        otherwise: Option<NodeId>,
    },
    /// `dependentSchemas`, and the schemas of `dependencies`: what holds where the key is there.
    Dependent(Vec<(String, NodeId)>),
}

/// A set of JSON types. `integer` is the numbers without a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TypeSet(u8);

/// The JSON types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// `null`
    Null,
    /// `true` and `false`
    Boolean,
    /// Numbers.
    Number,
    /// Strings.
    String,
    /// Arrays.
    Array,
    /// Objects.
    Object,
}

impl Type {
    /// All types.
    pub const ALL: [Self; 6] = [Self::Null, Self::Boolean, Self::Number, Self::String, Self::Array, Self::Object];
}

impl TypeSet {
    const INTEGER: u8 = 1 << 6;
    /// No type.
    pub const NONE: Self = Self(0);
    /// Every type.
    pub const ALL: Self = Self(0b11_1111);

    /// Whether values of the type may be valid.
    pub fn contains(self, t: Type) -> bool {
        self.0 & (1 << t as u8) != 0 || (t == Type::Number && self.0 & Self::INTEGER != 0)
    }

    /// Whether values of the type alone may be valid.
    pub fn is_only(self, t: Type) -> bool {
        self.0 == 1 << t as u8
    }

    /// Whether numbers must be integers.
    pub fn integer_only(self) -> bool {
        self.0 & Self::INTEGER != 0 && self.0 & (1 << Type::Number as u8) == 0
    }

    pub(crate) fn insert_named(&mut self, name: &str) -> bool {
        self.0 |= match name {
            "null" => 1 << Type::Null as u8,
            "boolean" => 1 << Type::Boolean as u8,
            "number" => 1 << Type::Number as u8,
            "integer" => Self::INTEGER,
            "string" => 1 << Type::String as u8,
            "array" => 1 << Type::Array as u8,
            "object" => 1 << Type::Object as u8,
            _ => return false,
        };
        true
    }
}

impl Default for TypeSet {
    fn default() -> Self {
        Self::ALL
    }
}

/// A bound on a number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bound {
    /// The bound itself.
    pub value: Decimal,
    /// Whether the bound is excluded.
    pub exclusive: bool,
}

/// Keywords that bear on numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumberRules {
    /// `minimum` and `exclusiveMinimum`, the stricter.
    pub min: Option<Bound>,
    /// `maximum` and `exclusiveMaximum`, the stricter.
    pub max: Option<Bound>,
    /// `multipleOf`, above zero.
    pub multiple_of: Option<Decimal>,
    /// Whether `1.0` is no integer: up to draft 4, integers are numbers without a fraction and an exponent.
    pub written_integer: bool,
}

/// Keywords that bear on strings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StringRules {
    /// `minLength`, in code points.
    pub min_length: u32,
    /// `maxLength`, in code points.
    pub max_length: Option<u32>,
    /// `pattern`, with its pointer.
    pub pattern: Option<(Regex, String)>,
    /// `format`, `contentEncoding` and `contentMediaType`, where they are enforced, with their pointers.
    pub formats: Vec<(StringFormat, String)>,
}

/// Keywords that bear on arrays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArrayRules {
    /// `prefixItems`
    pub prefix: Vec<NodeId>,
    /// `items`: what holds for the items after the prefix.
    pub rest: Option<NodeId>,
    /// `minItems`
    pub min_items: u32,
    /// `maxItems`
    pub max_items: Option<u32>,
    /// `contains` with its counts.
    pub contains: Option<Contains>,
    /// `uniqueItems`
    pub unique: bool,
    /// `unevaluatedItems`
    pub unevaluated: Option<NodeId>,
}

/// `contains`, `minContains` and `maxContains`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contains {
    /// What the items counted satisfy.
    pub node: NodeId,
    /// The fewest of them: `minContains`, else 1.
    pub min: u32,
    /// The most of them.
    pub max: Option<u32>,
    /// Whether the items counted are evaluated, for `unevaluatedItems`: from 2020-12 on.
    pub evaluates: bool,
}

/// Keywords that bear on objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectRules {
    /// `properties`, in document order.
    pub properties: IndexMap<String, NodeId>,
    /// `additionalProperties`
    pub additional: Option<NodeId>,
    /// `required`, each name once.
    pub required: Vec<String>,
    /// `patternProperties`, in document order.
    pub patterns: Vec<PatternProperty>,
    /// `propertyNames`
    pub names: Option<NodeId>,
    /// `minProperties`
    pub min_properties: u32,
    /// `maxProperties`
    pub max_properties: Option<u32>,
    /// `dependentRequired`, and the lists of names of `dependencies`: the names required where the key is there.
    pub dependent_required: Vec<(String, Vec<String>)>,
    /// `unevaluatedProperties`
    pub unevaluated: Option<NodeId>,
}

/// One pattern of `patternProperties`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternProperty {
    /// The keys that it applies to: those in which it matches somewhere.
    pub regex: Regex,
    /// JSON pointer of its schema.
    pub pointer: String,
    /// What the values of such keys satisfy.
    pub node: NodeId,
}
