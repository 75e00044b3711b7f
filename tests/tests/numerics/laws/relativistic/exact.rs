//! The exact solution of a Riemann problem of relativistic hydrodynamics, for flows along the normal (Martí and Müller, J. Fluid Mech.
//! 258, 317, 1994; Living Rev. Relativ. 6, 7, 2003, section 2.3), of an ideal gas whose particles have the rest energy one.

/// A state: density and pressure in the frame of the gas, its velocity, and its ratio of specific heats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fluid {
    pub(super) n: f64,
    pub(super) v: f64,
    pub(super) p: f64,
    pub(super) gamma: f64,
}

impl Fluid {
    /// Returns enthalpy and energy at rest in a volume.
    fn enthalpy(self) -> f64 {
        self.n + self.gamma / (self.gamma - 1.0) * self.p
    }

    fn sound(self) -> f64 {
        (self.gamma * self.p / self.enthalpy()).sqrt()
    }

    fn lorentz(self) -> f64 {
        1.0 / ((1.0 - self.v) * (1.0 + self.v)).sqrt()
    }

    /// Returns the contents of a volume in the laboratory: charge, momentum and energy.
    pub(super) fn conserved(self) -> [f64; 3] {
        let w = self.lorentz();
        let inertia = self.enthalpy() * w * w;
        [self.n * w, inertia * self.v, inertia - self.p]
    }

    fn mirrored(self) -> Fluid {
        Fluid { v: -self.v, ..self }
    }

    /// Returns the state of this pressure behind a shock that goes back through this state, and the speed of the shock: Taub's adiabat is
    /// a square equation for the enthalpy of a particle.
    fn shocked(self, p: f64) -> (Fluid, f64) {
        let share = (self.gamma - 1.0) * (p - self.p) / (self.gamma * p);
        let h = self.enthalpy() / self.n;
        let rest = h * (p - self.p) / self.n + h * h;
        let square = share * share + 4.0 * (1.0 - share) * rest;
        let behind = (square.sqrt() - share) / (2.0 * (1.0 - share));
        let n = self.gamma * p / ((self.gamma - 1.0) * (behind - 1.0));
        let flux = -((p - self.p) / (h / self.n - behind / n)).sqrt();
        let (w, content) = (self.lorentz(), self.n * self.lorentz());
        let speed = (content * content * self.v - flux.abs() * flux.hypot(self.n))
            / (content * content + flux * flux);
        let of_shock = 1.0 / ((1.0 - speed) * (1.0 + speed)).sqrt();
        let pushed = (p - self.p) * of_shock / flux;
        let v = (h * w * self.v + pushed)
            / (h * w + (p - self.p) * (of_shock * self.v / flux + 1.0 / content));
        (Fluid { n, v, p, ..self }, speed)
    }

    /// Returns the state of this pressure in a rarefaction that goes back through this state.
    fn expanded(self, p: f64) -> Fluid {
        let n = self.n * (p / self.p).powf(1.0 / self.gamma);
        let other = Fluid { n, p, ..self };
        let root = (self.gamma - 1.0).sqrt();
        let of = |c: f64| (root + c) / (root - c);
        let ratio = (1.0 + self.v) / (1.0 - self.v)
            * (of(self.sound()) / of(other.sound())).powf(2.0 / root);
        Fluid { v: (ratio - 1.0) / (ratio + 1.0), ..other }
    }

    /// Returns the state of this pressure behind a wave that goes back.
    fn behind(self, p: f64) -> Fluid {
        if p > self.p { self.shocked(p).0 } else { self.expanded(p) }
    }

    /// Returns the state left of the contact, of this pressure there, at the speed `s`.
    fn left_of_contact(self, p: f64, s: f64) -> Fluid {
        if p > self.p {
            let (behind, speed) = self.shocked(p);
            return if s < speed { self } else { behind };
        }
        let back = |state: Fluid| (state.v - state.sound()) / (1.0 - state.v * state.sound());
        if s < back(self) {
            return self;
        }
        if s > back(self.expanded(p)) {
            return self.expanded(p);
        }
        self.expanded(bisected(p, self.p, |p| back(self.expanded(p)) > s))
    }
}

/// Returns the number at which a condition ends that holds from the lower one on, halving the ratio of both.
fn bisected(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..200 {
        let middle = (low * high).sqrt();
        *(if holds(middle) { &mut low } else { &mut high }) = middle;
    }
    low
}

/// Returns the pressure between the waves, at which both sides have one velocity.
pub(super) fn between(left: Fluid, right: Fluid) -> f64 {
    bisected(1e-12, 1e12, |p| left.behind(p).v > -right.mirrored().behind(p).v)
}

/// Returns the state at the speed `s`.
pub(super) fn solution(left: Fluid, right: Fluid, s: f64) -> Fluid {
    let p = between(left, right);
    if s < left.behind(p).v {
        left.left_of_contact(p, s)
    } else {
        right.mirrored().left_of_contact(p, -s).mirrored()
    }
}

/// The states and the speed of the shock in print (Martí and Müller 2003, section 6.2).
#[test]
fn published_blasts_are_met() {
    let state = |n: f64, p: f64| Fluid { n, v: 0.0, p, gamma: 5.0 / 3.0 };
    for (left, right, published) in [
        (state(10.0, 40.0 / 3.0), state(1.0, 1e-9), [1.448, 0.714, 2.639, 5.071, 0.828]),
        (state(1.0, 1000.0), state(1.0, 0.01), [18.6, 0.96, 0.0916, 10.415, 0.986]),
    ] {
        let p = between(left, right);
        let (near, (far, speed)) = (left.behind(p), right.mirrored().shocked(p));
        let found = [p, near.v, near.n, far.n, -speed];
        for (found, published) in found.into_iter().zip(published) {
            assert!((found / published - 1.0).abs() < 2e-3, "{found} {published}");
        }
    }
}
