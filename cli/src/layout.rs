//! `falchion layout`: the layout algebra, and pictures of layouts.

use crate::{args::LayoutArgs, failure::Failure, print, target};
use falchion::layout::algebra::{Composed, IntTuple, LayoutError, Map};
use falchion_lab::layout::{
    expression::{ExpressionError, Value, evaluate},
    picture::{Picture, PictureError, table},
};
use serde_json::{Value as Json, json};

impl From<ExpressionError> for Failure {
    fn from(error: ExpressionError) -> Self {
        Self::refused(error.to_string())
    }
}

impl From<LayoutError> for Failure {
    fn from(error: LayoutError) -> Self {
        Self::refused(error.to_string())
    }
}

impl From<PictureError> for Failure {
    fn from(error: PictureError) -> Self {
        Self::refused(error.to_string())
    }
}

/// Runs the command.
pub fn run(args: &LayoutArgs, json: bool) -> Result<(), Failure> {
    let value = evaluate(&args.expression)?;
    let drawn = if args.table || args.svg.is_some() { Some(map(&value, "the expression")?) } else { None };
    if let (Some(path), Some(map)) = (&args.svg, &drawn) {
        let owners = args.threads.as_deref().map(|text| map_of(text, "--threads")).transpose()?;
        let mut picture = Picture::new(map).title(args.title.clone().unwrap_or_else(|| value.to_string()));
        if let Some(owners) = &owners {
            picture = picture.owners(owners)?;
        }
        if let Some(bytes) = args.element_bytes {
            picture = picture.banks(bytes)?;
        }
        target::write(path, &picture.svg()?)?;
    }
    match drawn.filter(|_| args.table) {
        _ if json => print::line(&object(&value).to_string()),
        Some(map) => print::line(table(&map)?.trim_end()),
        None => print::line(&value.to_string()),
    }
    Ok(())
}

fn map_of(text: &str, what: &str) -> Result<Map, Failure> {
    map(&evaluate(text)?, what)
}

fn map(value: &Value, what: &str) -> Result<Map, Failure> {
    match value {
        Value::Layout { layout, .. } => Ok(Map::new(layout)?),
        Value::Composed(composed) => Ok(Map::of(composed.clone())?),
        Value::Swizzle(_) | Value::Number(_) => Err(Failure::refused(format!("{what} is {value}, and only a layout is drawn"))),
    }
}

/// The value as one object.
fn object(value: &Value) -> Json {
    let parts = |composed: &Composed, cosize: u64| {
        let layout = &composed.layout;
        json!({
            "value": value.to_string(), "shape": tuple(&layout.shape()), "stride": tuple(&layout.stride()),
            "size": layout.size(), "cosize": cosize, "offset": composed.offset.value,
        })
    };
    match value {
        Value::Layout { layout, offset } => {
            let mut object = parts(&Composed::from(layout.clone()), layout.cosize());
            object["offset"] = json!(offset);
            object
        }
        Value::Composed(composed) => {
            let mut object = parts(composed, composed.cosize());
            object["swizzle"] = json!(composed.swizzle.to_string());
            object
        }
        Value::Swizzle(swizzle) => json!({"value": swizzle.to_string()}),
        Value::Number(number) => json!({"value": number}),
    }
}

/// Nested arrays.
fn tuple(tuple: &IntTuple) -> Json {
    match tuple {
        IntTuple::Int(int) => json!(int.value),
        IntTuple::Tuple(members) => members.iter().map(self::tuple).collect(),
    }
}
