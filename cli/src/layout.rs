//! `falchion layout`: the layout algebra, and drawings of layouts.

use crate::{args::LayoutArgs, failure::Failure, output, print};
use falchion::layout::algebra::{IntTuple, LayoutError, Map, Swizzle};
use falchion_lab::layout::{
    expression::{ExpressionError, Value, evaluate},
    picture::{Picture, PictureError, rows, table},
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
    let drawn =
        if args.table || args.svg.is_some() { Some(map(&value, "the expression")?) } else { None };
    if let (Some(path), Some(map)) = (&args.svg, &drawn) {
        let owners =
            args.threads.as_deref().map(|text| parse_map(text, "--threads")).transpose()?;
        let mut picture =
            Picture::new(map).title(args.title.clone().unwrap_or_else(|| value.to_string()));
        if let Some(owners) = &owners {
            picture = picture.owners(owners)?;
        }
        if let Some(bytes) = args.element_bytes {
            picture = picture.banks(bytes)?;
        }
        output::write(path, &picture.svg()?)?;
    }
    match drawn.filter(|_| args.table) {
        table if json => {
            let mut object = object(&value);
            if let Some(map) = table {
                object["table"] = json!(rows(&map)?);
            }
            print::line(&object.to_string());
        }
        Some(map) => print::line(table(&map)?.trim_end()),
        None => print::line(&value.to_string()),
    }
    Ok(())
}

fn parse_map(text: &str, what: &str) -> Result<Map, Failure> {
    map(&evaluate(text)?, what)
}

fn map(value: &Value, what: &str) -> Result<Map, Failure> {
    match value {
        Value::Layout(layout) => Ok(Map::from_layout(layout.clone())?),
        Value::Swizzle(_) | Value::Number(_) => {
            Err(Failure::refused(format!("{what} is {value}, but falchion draws only layouts")))
        }
    }
}

/// The value as a JSON object.
fn object(value: &Value) -> Json {
    match value {
        Value::Layout(composed) => {
            let layout = &composed.layout;
            let mut object = json!({
                "value": value.to_string(), "shape": tuple(&layout.shape()), "stride": tuple(&layout.stride()),
                "size": layout.size(), "cosize": composed.cosize(), "offset": composed.offset.value,
            });
            if composed.swizzle != Swizzle::IDENTITY {
                object["swizzle"] = json!(composed.swizzle.to_string());
            }
            object
        }
        Value::Swizzle(swizzle) => json!({"value": swizzle.to_string()}),
        Value::Number(number) => json!({"value": number}),
    }
}

/// The tuple as nested JSON arrays.
fn tuple(tuple: &IntTuple) -> Json {
    match tuple {
        IntTuple::Int(int) => json!(int.value),
        IntTuple::Tuple(members) => members.iter().map(self::tuple).collect(),
    }
}
