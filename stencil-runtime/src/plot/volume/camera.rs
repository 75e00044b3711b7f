//! The direction from which a box is seen.

/// A direction from which a box is seen, in degrees.
///
/// ```
/// use stencil_runtime::plot::Camera;
/// // From above the corner at the low end of x and y.
/// let camera = Camera { azimuth: -135.0, elevation: 30.0 };
/// assert_ne!(camera, Camera::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// The angle around z, from x towards y.
    pub azimuth: f64,
    /// The angle above the plane of x and y, −90 to 90.
    pub elevation: f64,
}

impl Default for Camera {
    /// Sees x to the right, y away and z up, from a little above.
    fn default() -> Self {
        Camera { azimuth: -60.0, elevation: 25.0 }
    }
}

impl Camera {
    /// Says what is wrong with it, if anything is.
    pub(super) fn fault(self) -> Option<String> {
        let is_good = self.azimuth.is_finite() && self.elevation.abs() <= 90.0;
        let Camera { azimuth, elevation } = self;
        (!is_good).then(|| {
            format!("the view {azimuth},{elevation} is not an angle and one from -90 to 90 degrees")
        })
    }
}

/// A point or a direction in the box.
pub(super) type Vector = [f64; 3];

pub(super) fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Returns `a + s b`.
pub(super) fn along(a: Vector, s: f64, b: Vector) -> Vector {
    std::array::from_fn(|i| a[i] + s * b[i])
}

/// Returns the direction of a vector; nothing for none.
pub(super) fn unit(a: Vector) -> Option<Vector> {
    let length = dot(a, a).sqrt();
    (length > 0.0 && length.is_finite()).then(|| a.map(|c| c / length))
}

/// A camera with the box that it sees. Lengths are in longest sides of the box, whose middle is the origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    /// The way to the camera, to the right of the picture and upwards.
    pub(super) toward: Vector,
    pub(super) right: Vector,
    pub(super) up: Vector,
    /// The sides of the box.
    pub(super) sides: Vector,
    /// Pixels to the longest side.
    pub(super) scale: f64,
}

impl Sight {
    /// Sees a box such that the longer side of its picture is `pixels` long.
    pub(super) fn new(camera: Camera, extent: [(f64, f64); 3], pixels: usize) -> Self {
        let (sa, ca) = camera.azimuth.to_radians().sin_cos();
        let (se, ce) = camera.elevation.to_radians().sin_cos();
        let lengths = extent.map(|(low, high)| high - low);
        let longest = lengths.into_iter().fold(0.0, f64::max);
        let mut sight = Sight {
            toward: [ce * ca, ce * sa, se],
            right: [-sa, ca, 0.0],
            up: [-se * ca, -se * sa, ce],
            sides: lengths.map(|length| length / longest),
            scale: 1.0,
        };
        let (w, h) = sight.size();
        sight.scale = pixels as f64 / w.max(h).max(1e-3);
        sight
    }

    /// Returns width and height of the box in the picture, in pixels.
    pub(super) fn size(&self) -> (f64, f64) {
        let across = |way: Vector| {
            let parts = way.iter().zip(self.sides);
            self.scale * parts.map(|(w, side)| w.abs() * side).sum::<f64>()
        };
        (across(self.right), across(self.up))
    }

    /// Returns the place of a point in the picture, in pixels to the right of its middle and below it.
    pub(super) fn place(&self, point: Vector) -> (f32, f32) {
        let (x, y) = (dot(self.right, point), dot(self.up, point));
        ((self.scale * x) as f32, (-self.scale * y) as f32)
    }

    /// Returns the point, far in front of the box, that a place of the picture shows.
    pub(super) fn origin(&self, (x, y): (f64, f64)) -> Vector {
        let across = along([0.0; 3], x / self.scale, self.right);
        let in_plane = along(across, -y / self.scale, self.up);
        along(in_plane, 4.0, self.toward)
    }

    /// Returns the lengths after which a ray from a point away from the camera enters and leaves the box, if it meets
    /// it.
    pub(super) fn inside(&self, origin: Vector) -> Option<(f64, f64)> {
        let (mut enters, mut leaves) = (0.0_f64, f64::INFINITY);
        for ((origin, side), toward) in origin.into_iter().zip(self.sides).zip(self.toward) {
            let (half, way) = (0.5 * side, -toward);
            if way.abs() < 1e-12 {
                if origin.abs() > half {
                    return None;
                }
                continue;
            }
            let (a, b) = ((-half - origin) / way, (half - origin) / way);
            enters = enters.max(a.min(b));
            leaves = leaves.min(a.max(b));
        }
        (enters < leaves).then_some((enters, leaves))
    }
}
