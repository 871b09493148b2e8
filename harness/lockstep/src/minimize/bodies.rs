//! Simpler rows of an object table. Their bodies are the JSON of wire.md section 7.

use serde_json::{Value, json};
use wire::Kind;

use super::lower::numbers;
use crate::case::Object;
use crate::gpu::kernels::NOTHING;

/// A longer body stays as it is: each of its parts is tried, beside copies of all the others.
const MAX_BODY: usize = 1024;

/// The object with one thing less: a reference that may be none, of a pipeline layout a group, a member or an item of its body, a lower
/// number, of a shader module all that it does.
pub(super) fn simpler(object: &Object) -> impl Iterator<Item = Object> {
    let with = |change: &dyn Fn(&mut Vec<u32>)| {
        let mut next = object.clone();
        change(&mut next.refs);
        next
    };
    let last = match object.refs.split_last() {
        Some((_, left)) if object.kind == Kind::PipelineLayout => Some(with(&|refs| refs.truncate(left.len()))),
        _ => None,
    };
    let there = (0..object.refs.len()).filter(|&at| object.refs[at] != 0);
    let none = there.map(move |at| with(&|refs| refs[at] = 0));
    let bodies = match (object.kind, serde_json::from_str::<Value>(&object.body)) {
        (Kind::ShaderModule, _) => vec![json!({ "code": NOTHING })],
        (_, Ok(body)) if object.body.len() <= MAX_BODY => less(&body),
        _ => Vec::new(),
    };
    let of_bodies = bodies.into_iter().map(|body| Object {
        body: body.to_string(),
        ..object.clone()
    });
    last.into_iter().chain(none).chain(of_bodies)
}

/// The object without what its descriptor says of a depth attachment.
pub(super) fn without_depth(object: &Object) -> Object {
    let mut next = object.clone();
    if let Ok(Value::Object(mut body)) = serde_json::from_str(&object.body) {
        let removed = ["depthStencil", "depthStencilFormat"].map(|name| body.remove(name));
        if removed.iter().any(Option::is_some) {
            next.body = Value::Object(body).to_string();
        }
    }
    next
}

/// The value with one member, item or number less, the outer ones first.
fn less(value: &Value) -> Vec<Value> {
    let with = |change: &dyn Fn(&mut Value)| {
        let mut next = value.clone();
        change(&mut next);
        next
    };
    let mut all = Vec::new();
    match value {
        Value::Object(members) => {
            all.extend(
                members
                    .keys()
                    .map(|name| with(&|next| drop(next.as_object_mut().map(|next| next.remove(name))))),
            );
            for (name, member) in members {
                all.extend(
                    less(member)
                        .into_iter()
                        .map(|member| with(&|next| next[name] = member.clone())),
                );
            }
        }
        Value::Array(items) => {
            all.extend((0..items.len()).map(|at| with(&|next| drop(next.as_array_mut().map(|next| next.remove(at))))));
            for (at, item) in items.iter().enumerate() {
                all.extend(less(item).into_iter().map(|item| with(&|next| next[at] = item.clone())));
            }
        }
        Value::Number(number) => all.extend(number.as_u64().into_iter().flat_map(numbers).map(Value::from)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
    all
}

/// The table with one entry less of a bind group layout, and of the groups of that layout. One with a dynamic offset stays: commands
/// carry it.
pub(super) fn without_an_entry(objects: &[Object]) -> impl Iterator<Item = Vec<Object>> {
    let layouts = objects.iter().filter(|object| object.kind == Kind::BindGroupLayout);
    layouts.flat_map(move |layout| {
        let entries = entries(layout);
        let fixed = entries
            .into_iter()
            .filter(|entry| entry["buffer"]["hasDynamicOffset"] != true);
        fixed.map(move |entry| {
            let of_layout = |object: &Object| object.id == layout.id || object.refs.first() == Some(&layout.id);
            let less = |object: &Object| match object.kind {
                Kind::BindGroupLayout | Kind::BindGroup if of_layout(object) => without(object, &entry["binding"]),
                _ => object.clone(),
            };
            objects.iter().map(less).collect()
        })
    })
}

fn entries(object: &Object) -> Vec<Value> {
    let body = serde_json::from_str::<Value>(&object.body).unwrap_or_default();
    body["entries"].as_array().cloned().unwrap_or_default()
}

/// A layout or a group without its entry of that binding; of a group also without what stands there.
fn without(object: &Object, binding: &Value) -> Object {
    let mut next = object.clone();
    let mut entries = entries(object);
    if let Some(at) = entries.iter().position(|entry| entry["binding"] == *binding) {
        entries.remove(at);
        next.body = json!({ "entries": entries }).to_string();
        if object.kind == Kind::BindGroup && at + 1 < next.refs.len() {
            next.refs.remove(at + 1);
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(id: u32, kind: Kind, refs: &[u32], body: &Value) -> Object {
        Object {
            id,
            kind,
            refs: refs.to_vec(),
            body: body.to_string(),
        }
    }

    #[test]
    fn a_body_loses_members_items_and_numbers() {
        let texture = object(5, Kind::Texture, &[], &json!({ "size": [2], "usage": 1 }));
        let bodies: Vec<String> = simpler(&texture).map(|next| next.body).collect();
        assert_eq!(
            bodies,
            [
                r#"{"usage":1}"#,
                r#"{"size":[2]}"#,
                r#"{"size":[],"usage":1}"#,
                r#"{"size":[0],"usage":1}"#,
                r#"{"size":[1],"usage":1}"#,
                r#"{"size":[2],"usage":0}"#,
            ]
        );
    }

    #[test]
    fn an_entry_goes_from_its_layout_and_its_groups() {
        let dynamic = json!({ "binding": 1, "buffer": { "hasDynamicOffset": true } });
        let layout = json!({ "entries": [{ "binding": 4, "buffer": {} }, dynamic] });
        let group = json!({ "entries": [{ "binding": 1, "size": 4 }, { "binding": 4 }] });
        let other = object(9, Kind::BindGroup, &[3, 1], &json!({ "entries": [{ "binding": 4 }] }));
        let table = [
            object(7, Kind::BindGroupLayout, &[], &layout),
            object(8, Kind::BindGroup, &[7, 1, 2], &group),
            other.clone(),
        ];
        let smaller: Vec<Vec<Object>> = without_an_entry(&table).collect();
        let due = vec![
            object(7, Kind::BindGroupLayout, &[], &json!({ "entries": [dynamic] })),
            object(
                8,
                Kind::BindGroup,
                &[7, 1],
                &json!({ "entries": [{ "binding": 1, "size": 4 }] }),
            ),
            other,
        ];
        assert_eq!(smaller, [due]);
    }
}
