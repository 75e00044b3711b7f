//! Colours and colour maps.

/// A colour in sRGB: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color(pub u8, pub u8, pub u8);

impl Color {
    /// Colours of curves, in turn, that stay apart for colour-blind readers (after Okabe and Ito).
    pub const PALETTE: [Self; 7] = [
        Self(0, 107, 178),
        Self(213, 94, 0),
        Self(0, 148, 110),
        Self(176, 74, 138),
        Self(92, 92, 92),
        Self(64, 164, 223),
        Self(216, 148, 0),
    ];
    /// Paper.
    pub const WHITE: Self = Self(255, 255, 255);
    /// Text and frames.
    pub const INK: Self = Self(32, 35, 40);
    /// Text of second rank.
    pub const FAINT: Self = Self(98, 104, 112);
    /// Lines behind curves.
    pub const GRID: Self = Self(230, 232, 236);
    /// Values that are not finite.
    pub(super) const MISSING: Self = Self(158, 158, 158);

    /// Returns `other` over this colour, with `coverage` of 0 to 1.
    pub fn blend(self, other: Self, coverage: f32) -> Self {
        let mix = |a: u8, b: u8| {
            let (a, b) = (f32::from(a), f32::from(b));
            (a + (b - a) * coverage.clamp(0.0, 1.0)).round() as u8
        };
        Self(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2))
    }
}

/// A map from values to colours. All maps are perceptually uniform: equal differences of the value look equally large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColorMap {
    /// Dark violet over green to yellow (viridis), for values without a special zero.
    #[default]
    Sequential,
    /// Black over red to pale yellow (magma), for intensities.
    Magma,
    /// Black over red and orange to pale yellow (inferno), for intensities.
    Inferno,
    /// Blue over magenta to yellow (plasma).
    Plasma,
    /// Blue over grey to yellow (cividis), nearly the same for colour-blind readers.
    Cividis,
    /// Blue over white to red, for signed values. The range is symmetric around zero unless it is
    /// given.
    Diverging,
    /// Pale grey over blue, nearly black and red back to pale grey, for angles and phases: both ends of the range have
    /// one colour, and values beyond them go round.
    Cyclic,
}

impl ColorMap {
    /// Every map, with its usual name.
    pub const ALL: [(&'static str, ColorMap); 7] = [
        ("viridis", ColorMap::Sequential),
        ("magma", ColorMap::Magma),
        ("inferno", ColorMap::Inferno),
        ("plasma", ColorMap::Plasma),
        ("cividis", ColorMap::Cividis),
        ("diverging", ColorMap::Diverging),
        ("cyclic", ColorMap::Cyclic),
    ];

    /// Returns the map that suits values between two bounds: [`ColorMap::Diverging`] if both signs have some weight,
    /// else [`ColorMap::Sequential`].
    ///
    /// ```
    /// use stencil_runtime::plot::ColorMap;
    /// assert_eq!(ColorMap::fitting(-1.0, 0.5), ColorMap::Diverging);
    /// assert_eq!(ColorMap::fitting(-1e-9, 1.0), ColorMap::Sequential);
    /// assert_eq!(ColorMap::fitting(1.0, 2.0), ColorMap::Sequential);
    /// ```
    pub fn fitting(low: f64, high: f64) -> ColorMap {
        let straddles = low < 0.0 && high > 0.0;
        match straddles && (-low).min(high) > 0.1 * (-low).max(high) {
            true => ColorMap::Diverging,
            false => ColorMap::Sequential,
        }
    }

    /// Returns the map of this name; see [`ColorMap::ALL`].
    ///
    /// ```
    /// use stencil_runtime::plot::ColorMap;
    /// assert_eq!(ColorMap::find("magma"), Some(ColorMap::Magma));
    /// assert_eq!(ColorMap::find("rainbow"), None);
    /// ```
    pub fn find(name: &str) -> Option<ColorMap> {
        Self::ALL.into_iter().find_map(|(known, map)| (known == name).then_some(map))
    }

    /// Returns the colour at a place from 0 to 1 of the range; places outside are clamped, or go round in
    /// [`ColorMap::Cyclic`].
    ///
    /// ```
    /// use stencil_runtime::plot::{Color, ColorMap};
    /// assert_eq!(ColorMap::Sequential.at(0.0), Color(68, 1, 84));
    /// ```
    pub fn at(self, place: f64) -> Color {
        let place = match self {
            Self::Cyclic if place.is_finite() => place.rem_euclid(1.0),
            _ => place,
        };
        let place = if place.is_nan() { 0.5 } else { place.clamp(0.0, 1.0) };
        let table = match self {
            Self::Sequential => colorous::VIRIDIS,
            Self::Magma => colorous::MAGMA,
            Self::Inferno => colorous::INFERNO,
            Self::Plasma => colorous::PLASMA,
            Self::Cividis => colorous::CIVIDIS,
            Self::Diverging => return diverging(2.0 * place - 1.0),
            Self::Cyclic => return cyclic(place),
        };
        let c = table.eval_continuous(place);
        Color(c.r, c.g, c.b)
    }
}

/// Two straight falls of lightness in Oklab, at constant hues, from a white that is nearly white.
fn diverging(s: f64) -> Color {
    let (hue, peak) = if s < 0.0 { (256.0_f64, 0.140) } else { (27.0, 0.170) };
    let s = s.abs();
    let lightness = 0.975 - 0.585 * s;
    // Chroma rises from the centre and falls a little at the dark end, inside sRGB throughout.
    let chroma = peak * (s * (2.0 - s)).powf(0.9) * (1.0 - 0.18 * s * s * s);
    let (sin, cos) = hue.to_radians().sin_cos();
    oklab(lightness, chroma * cos, chroma * sin)
}

/// A fall and a rise of lightness in Oklab, blue on the way down and red on the way up, without chroma at both ends.
fn cyclic(place: f64) -> Color {
    let (hue, peak) = if place < 0.5 { (256.0_f64, 0.125) } else { (27.0, 0.145) };
    // 0 at the pale end, 1 at the dark one.
    let depth = 1.0 - (2.0 * place - 1.0).abs();
    let chroma = peak * (std::f64::consts::PI * depth).sin();
    let (sin, cos) = hue.to_radians().sin_cos();
    oklab(0.90 - 0.65 * depth, chroma * cos, chroma * sin)
}

/// From Oklab to sRGB (Ottosson, 2020).
fn oklab(l: f64, a: f64, b: f64) -> Color {
    let long = (l + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let medium = (l - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let short = (l - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
    let encode = |linear: f64| {
        let c = linear.clamp(0.0, 1.0);
        let c = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
        (c * 255.0).round() as u8
    };
    Color(
        encode(4.076_741_662_1 * long - 3.307_711_591_3 * medium + 0.230_969_929_2 * short),
        encode(-1.268_438_004_6 * long + 2.609_757_401_1 * medium - 0.341_319_396_5 * short),
        encode(-0.004_196_086_3 * long - 0.703_418_614_7 * medium + 1.707_614_701_0 * short),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CIE lightness, 0 to 100.
    fn lightness(c: Color) -> f64 {
        let lin = |v: u8| {
            let v = f64::from(v) / 255.0;
            if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        };
        let y = 0.2126 * lin(c.0) + 0.7152 * lin(c.1) + 0.0722 * lin(c.2);
        if y > 0.008_856 { 116.0 * y.cbrt() - 16.0 } else { 903.3 * y }
    }

    #[test]
    fn the_diverging_map_is_symmetric_in_lightness_and_monotone() {
        let map = ColorMap::Diverging;
        let centre = map.at(0.5);
        assert!(centre.0 > 240 && centre.1 > 240 && centre.2 > 240, "{centre:?}");
        for i in 0..100 {
            let s = f64::from(i) / 200.0;
            let (blue, red) = (map.at(0.5 - s), map.at(0.5 + s));
            assert!((lightness(blue) - lightness(red)).abs() < 5.0, "{s}: {blue:?} {red:?}");
            assert!(lightness(map.at(0.5 + s + 0.005)) < lightness(red));
            assert!(lightness(map.at(0.5 - s - 0.005)) < lightness(blue));
        }
        let (blue, red) = (map.at(0.0), map.at(1.0));
        assert!(blue.2 > blue.0 + 60 && red.0 > red.2 + 60, "{blue:?} {red:?}");
    }

    #[test]
    fn one_sided_maps_grow_lighter_evenly() {
        for (name, map) in ColorMap::ALL {
            if matches!(map, ColorMap::Diverging | ColorMap::Cyclic) {
                continue;
            }
            let steps: Vec<f64> =
                (0..=10).map(|i| lightness(map.at(f64::from(i) / 10.0))).collect();
            for pair in steps.windows(2) {
                let rise = pair[1] - pair[0];
                let mean = (steps[10] - steps[0]) / 10.0;
                assert!(rise > 0.5 * mean && rise < 1.6 * mean, "{name}: {steps:?}");
            }
        }
    }

    #[test]
    fn places_outside_are_clamped() {
        for (_, map) in ColorMap::ALL {
            assert_eq!(map.at(-3.0), map.at(0.0));
            assert_eq!(map.at(f64::INFINITY), map.at(1.0));
            map.at(f64::NAN);
        }
    }

    #[test]
    fn the_cyclic_map_closes_and_tells_both_ways_apart() {
        let map = ColorMap::Cyclic;
        assert_eq!(map.at(0.0), map.at(1.0));
        assert_eq!(map.at(0.3), map.at(2.3));
        for i in 0..50 {
            let (s, next) = (f64::from(i) / 100.0, f64::from(i + 1) / 100.0);
            let fall = lightness(map.at(s)) - lightness(map.at(next));
            assert!(fall > 0.5 && fall < 3.0, "{s}: {fall}");
            let rise = lightness(map.at(1.0 - s)) - lightness(map.at(1.0 - next));
            assert!(rise > 0.5 && rise < 3.0, "{s}: {rise}");
        }
        let (blue, red) = (map.at(0.25), map.at(0.75));
        assert!(blue.2 > blue.0 + 60 && red.0 > red.2 + 60, "{blue:?} {red:?}");
    }

    #[test]
    fn blending_ends_at_both_colours() {
        assert_eq!(Color::WHITE.blend(Color::INK, 0.0), Color::WHITE);
        assert_eq!(Color::WHITE.blend(Color::INK, 1.0), Color::INK);
        assert_eq!(Color(0, 0, 0).blend(Color(100, 200, 50), 0.5), Color(50, 100, 25));
    }
}
