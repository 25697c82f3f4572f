//! `$ref`, `$dynamicRef` and `$recursiveRef`: which subschema each leads to.

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::ir::NodeId;
use super::registry::{Registry, ResourceId};
use super::{Parser, Site};
use crate::error::Error;

impl<'a> Parser<'a> {
    /// The node that a reference leads to.
    pub(super) fn reference(&mut self, site: &Site, keyword: &str, value: &'a Value) -> Result<NodeId, Error> {
        let at = site.at(keyword);
        let Value::String(reference) = value else { return Err(at.invalid("it must be a string")) };
        let target = match self.registry.target(site.resource, reference)? {
            Ok(target) => target,
            Err(reason) => return Err(Error::unresolved(&at.pointer(), keyword, reference, &reason)),
        };
        let dynamic = target.dynamic.filter(|name| match keyword {
            "$dynamicRef" => !name.is_empty(),
            "$recursiveRef" => name.is_empty(),
            _ => false,
        });
        let outermost = dynamic.and_then(|name| {
            let id = self.scopes.outermost(site.scope, name)?;
            self.registry.dynamic_anchor(id, name)
        });
        let value = outermost.unwrap_or(target.value);
        let resource = self.registry.resource_of(value).unwrap_or(site.resource);
        self.node(value, resource, site.scope, |registry| registry.pointer_of(value))
    }
}

/// A dynamic scope: for each dynamic anchor's name, the outermost resource entered that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ScopeId(usize);

/// The dynamic scopes met; without dynamic anchors, that is one.
#[derive(Debug)]
pub(super) struct Scopes<'a> {
    by_id: Vec<FxHashMap<&'a str, ResourceId>>,
    ids: FxHashMap<Vec<(&'a str, ResourceId)>, ScopeId>,
    entered: FxHashMap<(ScopeId, ResourceId), ScopeId>,
    listed: usize,
}

impl<'a> Scopes<'a> {
    /// Anchors that all scopes together may list.
    pub(super) const MAX_LISTED: usize = 1_000_000;
    /// The scope outside of every resource.
    pub(super) const OUTSIDE: ScopeId = ScopeId(0);

    pub(super) fn new() -> Self {
        Self {
            by_id: vec![FxHashMap::default()],
            ids: std::iter::once((Vec::new(), ScopeId(0))).collect(),
            entered: FxHashMap::default(),
            listed: 0,
        }
    }

    fn outermost(&self, scope: ScopeId, name: &str) -> Option<ResourceId> {
        self.by_id[scope.0].get(name).copied()
    }

    /// The scope within a resource that is entered from `scope`; `None` where scopes grow beyond all use.
    pub(super) fn enter(&mut self, registry: &Registry<'a>, scope: ScopeId, id: ResourceId) -> Option<ScopeId> {
        let names = &registry.resource(id).dynamic;
        if names.is_empty() {
            return Some(scope);
        }
        if let Some(&inside) = self.entered.get(&(scope, id)) {
            return Some(inside);
        }
        let mut map = self.by_id[scope.0].clone();
        for name in names {
            map.entry(name).or_insert(id);
        }
        let mut key: Vec<(&str, ResourceId)> = map.iter().map(|(name, id)| (*name, *id)).collect();
        key.sort_unstable();
        self.listed += key.len();
        if self.listed > Self::MAX_LISTED {
            return None;
        }
        let next = ScopeId(self.by_id.len());
        let inside = *self.ids.entry(key).or_insert(next);
        if inside == next {
            self.by_id.push(map);
        }
        self.entered.insert((scope, id), inside);
        Some(inside)
    }
}
