//! Exact solutions of Riemann problems, as oracles.

/// The states of a gas: density, velocity, pressure, and its ratio of specific heats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gas {
    pub(super) rho: f64,
    pub(super) u: f64,
    pub(super) p: f64,
    pub(super) gamma: f64,
}

/// The ratio of specific heats of air.
pub(super) const GAMMA: f64 = 1.4;

impl Gas {
    fn sound(self) -> f64 {
        (self.gamma * self.p / self.rho).sqrt()
    }

    /// Returns the change of velocity through a wave to this pressure, and its derivative (Toro 2009, Eqs. 4.6, 4.7 and
    /// 4.37).
    fn wave(self, p: f64) -> (f64, f64) {
        if p > self.p {
            let a = 2.0 / ((self.gamma + 1.0) * self.rho);
            let b = self.p * (self.gamma - 1.0) / (self.gamma + 1.0);
            let root = (a / (p + b)).sqrt();
            let slope = root * (1.0 - (p - self.p) / (2.0 * (b + p)));
            ((p - self.p) * root, slope)
        } else {
            let power = (self.gamma - 1.0) / (2.0 * self.gamma);
            let ratio = p / self.p;
            let change = 2.0 * self.sound() / (self.gamma - 1.0) * (ratio.powf(power) - 1.0);
            let slope =
                ratio.powf(-(self.gamma + 1.0) / (2.0 * self.gamma)) / (self.rho * self.sound());
            (change, slope)
        }
    }

    /// Returns the state at the speed `s` left of the contact (Toro 2009, section 4.5).
    fn left_of_contact(self, p: f64, u: f64, s: f64) -> Gas {
        let (c, ratio) = (self.sound(), p / self.p);
        let weak = (self.gamma - 1.0) / (self.gamma + 1.0);
        if p > self.p {
            let shock = self.u
                - c * ((self.gamma + 1.0) / (2.0 * self.gamma) * ratio
                    + (self.gamma - 1.0) / (2.0 * self.gamma))
                    .sqrt();
            let rho = self.rho * (ratio + weak) / (weak * ratio + 1.0);
            return if s < shock { self } else { Gas { rho, u, p, ..self } };
        }
        let behind = c * ratio.powf((self.gamma - 1.0) / (2.0 * self.gamma));
        if s < self.u - c {
            self
        } else if s > u - behind {
            let rho = self.rho * ratio.powf(1.0 / self.gamma);
            Gas { rho, u, p, ..self }
        } else {
            let fan = 2.0 / (self.gamma + 1.0) + weak / c * (self.u - s);
            Gas {
                rho: self.rho * fan.powf(2.0 / (self.gamma - 1.0)),
                u: 2.0 / (self.gamma + 1.0) * (c + (self.gamma - 1.0) / 2.0 * self.u + s),
                p: self.p * fan.powf(2.0 * self.gamma / (self.gamma - 1.0)),
                ..self
            }
        }
    }

    fn mirrored(self) -> Gas {
        Gas { u: -self.u, ..self }
    }
}

/// Returns pressure and velocity between the waves (Toro 2009, Eqs. 4.5 and 4.9), by Newton's method.
pub(super) fn star(left: Gas, right: Gas) -> (f64, f64) {
    let mut p = 0.5 * (left.p + right.p);
    for _ in 0..60 {
        let ((a, da), (b, db)) = (left.wave(p), right.wave(p));
        p = (p - (a + b + right.u - left.u) / (da + db)).max(1e-8 * p);
    }
    let u = 0.5 * (left.u + right.u) + 0.5 * (right.wave(p).0 - left.wave(p).0);
    (p, u)
}

/// Returns the state at the speed `s` from the diaphragm.
pub(super) fn gas(left: Gas, right: Gas, s: f64) -> Gas {
    let (p, u) = star(left, right);
    if s <= u {
        left.left_of_contact(p, u, s)
    } else {
        right.mirrored().left_of_contact(p, -u, -s).mirrored()
    }
}

/// Returns the depth between the waves of a dam of depth `left` that breaks onto water of depth `right`, at rest both,
/// for `g = 1`, and the flow there (Stoker 1957, section 10.8; LeVeque 2002, sections 13.7 to 13.9).
pub(super) fn between_dams(left: f64, right: f64) -> (f64, f64) {
    let velocity = |h: f64| (h - right) * (0.5 * (1.0 / h + 1.0 / right)).sqrt();
    let (mut low, mut high) = (right, left);
    for _ in 0..200 {
        let h = 0.5 * (low + high);
        match velocity(h) < 2.0 * (left.sqrt() - h.sqrt()) {
            true => low = h,
            false => high = h,
        }
    }
    (low, velocity(low))
}

/// Returns the depth at the speed `s`.
pub(super) fn dam(left: f64, right: f64, s: f64) -> f64 {
    let (h, u) = between_dams(left, right);
    let shock = h * u / (h - right);
    if s < -left.sqrt() {
        left
    } else if s < u - h.sqrt() {
        ((2.0 * left.sqrt() - s) / 3.0).powi(2)
    } else if s < shock {
        h
    } else {
        right
    }
}

/// Toro 2009, Tables 4.1 to 4.3: pressure and velocity between the waves of five tests.
#[test]
fn states_between_waves_are_those_in_print() {
    let gas = |rho, u, p| Gas { rho, u, p, gamma: GAMMA };
    let tests = [
        (gas(1.0, 0.0, 1.0), gas(0.125, 0.0, 0.1), 0.30313, 0.92745),
        (gas(1.0, -2.0, 0.4), gas(1.0, 2.0, 0.4), 0.00189, 0.0),
        (gas(1.0, 0.0, 1000.0), gas(1.0, 0.0, 0.01), 460.894, 19.5975),
        (gas(1.0, 0.0, 0.01), gas(1.0, 0.0, 100.0), 46.0950, -6.19633),
        (gas(5.99924, 19.5975, 460.894), gas(5.99242, -6.19633, 46.0950), 1691.64, 8.68975),
    ];
    for (left, right, p, u) in tests {
        let found = star(left, right);
        assert!((found.0 - p).abs() < 2e-5 * p.max(0.5), "{found:?} {p}");
        assert!((found.1 - u).abs() < 2e-5 * u.abs().max(1.0), "{found:?} {u}");
    }
}

/// Published numbers for a dam of three times the depth before it, and an independent equation in print for the speed
/// of waves between (Delestre et al., Int. J. Numer. Methods Fluids 72, 269, 2013, section 4.1.1).
#[test]
fn depths_between_waves_are_those_in_print() {
    let (h, u) = between_dams(3.0, 1.0);
    assert!((h - 1.848_576_603_096_76).abs() < 1e-13, "{h}");
    assert!((u * 9.80665f64.sqrt() - 2.332_553_527_042_94).abs() < 1e-12, "{u}");
    for (left, right) in [(3.0, 1.0), (1.8, 1.0), (5.0, 1.0), (1.0, 0.1), (1.0, 1e-4)] {
        let c = between_dams(left, right).0.sqrt();
        let fan = 8.0 * right * (c * (left.sqrt() - c)).powi(2);
        let bore = (c * c - right).powi(2) * (c * c + right);
        assert!((fan / bore - 1.0).abs() < 1e-9, "{left} {right}: {fan} {bore}");
    }
}
