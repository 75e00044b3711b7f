//! Words of the command line: ranges, slopes, colours, surfaces and views.

use stencil_runtime::plot::{Camera, ColorMap};

/// A field with the values of its surfaces.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Surfaces {
    pub(super) field: String,
    pub(super) values: Vec<f64>,
}

/// Reads two finite numbers with a comma between them.
fn pair(text: &str) -> Option<(f64, f64)> {
    let (a, b) = text.split_once(',')?;
    let (a, b) = (a.trim().parse::<f64>().ok()?, b.trim().parse::<f64>().ok()?);
    f64::is_finite(b - a).then_some((a, b))
}

pub(super) fn range(text: &str) -> Result<(f64, f64), String> {
    let found = pair(text).filter(|(low, high)| low < high);
    found.ok_or_else(|| "write two numbers, the smaller one first: -1,1".into())
}

pub(super) fn slope(text: &str) -> Result<f64, String> {
    let (above, below) = text.split_once('/').unwrap_or((text, "1"));
    let parsed = (above.trim().parse::<f64>(), below.trim().parse::<f64>());
    match parsed {
        (Ok(above), Ok(below)) if (above / below).is_finite() => Ok(above / below),
        _ => Err("write a number or a fraction: -5/3".into()),
    }
}

pub(super) fn map(text: &str) -> Result<ColorMap, String> {
    let names = ColorMap::ALL.map(|(name, _)| name);
    ColorMap::find(text).ok_or_else(|| {
        let near = stencil_compiler::diag::nearest(text, names);
        let hint = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
        format!("{hint}there are: {}", names.join(", "))
    })
}

pub(super) fn surfaces(text: &str) -> Result<Surfaces, String> {
    let read = || {
        let (field, values) = text.split_once('=')?;
        let values: Option<Vec<f64>> = values
            .split(',')
            .map(|value| value.trim().parse().ok().filter(|v: &f64| v.is_finite()))
            .collect();
        let field = Some(field.trim().to_string()).filter(|field| !field.is_empty())?;
        Some(Surfaces { field, values: values? })
    };
    read().ok_or_else(|| "write a field, `=` and one number or more: rho=0.5,1".into())
}

pub(super) fn view(text: &str) -> Result<Camera, String> {
    let found = pair(text).filter(|(_, elevation)| elevation.abs() <= 90.0);
    let camera = found.map(|(azimuth, elevation)| Camera { azimuth, elevation });
    camera.ok_or_else(|| "write two angles in degrees, the second from -90 to 90: -60,25".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_on_the_command_line() {
        assert_eq!(range("-1, 2"), Ok((-1.0, 2.0)));
        for text in ["1", "2,1", "1,1", "nan,1", "-inf,1", "a,b"] {
            assert!(range(text).is_err(), "{text}");
        }
        assert_eq!(slope("-5/3"), Ok(-5.0 / 3.0));
        assert_eq!(slope("-3"), Ok(-3.0));
        assert!(slope("1/0").is_err() && slope("steep").is_err());
        assert_eq!(map("cividis"), Ok(ColorMap::Cividis));
        assert!(map("virdis").unwrap_err().contains("did you mean `viridis`?"));
    }

    #[test]
    fn surfaces_and_views() {
        let expected = Surfaces { field: "rho".into(), values: vec![0.5, -1.0] };
        assert_eq!(surfaces("rho=0.5, -1"), Ok(expected));
        for text in ["rho", "rho=", "=1", "rho=1,", "rho=nan", "rho=1e999"] {
            assert!(surfaces(text).is_err(), "{text}");
        }
        assert_eq!(view("-200,-90"), Ok(Camera { azimuth: -200.0, elevation: -90.0 }));
        for text in ["10", "0,91", "inf,0", "a,b"] {
            assert!(view(text).is_err(), "{text}");
        }
    }
}
