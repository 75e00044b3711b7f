//! Settings of the length of time steps.

use super::Builder;
use crate::{Axes, Number};

impl<T: Number> Builder<T> {
    /// Sets the time step; the largest one if steps adapt to a [`cfl`](Self::cfl) number. A step beyond the stability
    /// limit is refused before it is done, with the limit, unless it is [unchecked](Self::unchecked_step).
    pub fn dt(mut self, dt: f64) -> Self {
        self.dt = Some(dt);
        self
    }

    /// Chooses steps of 0.8 of the stability limit: as [`cfl(0.8)`](Self::cfl) if the system declares speeds or its
    /// fluxes imply them. Otherwise the limit is that of the equations themselves, linearized about the state in some
    /// cells; it is found once if they are linear, and every 32 steps if they are not.
    ///
    /// ```
    /// # use stencil_runtime::{Simulation, SystemDef};
    /// let heat = SystemDef::from_text("heat.pde", "
    ///     pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); }
    ///     scheme s for Heat { space: central<order = 2>; time: euler; }
    /// ")?;
    /// let mut simulation = Simulation::<f64>::builder(&heat).cells([10, 1, 1]).auto_step().build()?;
    /// simulation.step()?;
    /// // h^2 / 2
    /// assert!((simulation.dt() / (0.8 * 0.01 / 2.0) - 1.0).abs() < 1e-4);
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    pub fn auto_step(mut self) -> Self {
        self.auto = true;
        self
    }

    /// Sets whether steps of any length are done, unstable ones included.
    ///
    /// ```
    /// # use stencil_runtime::{Error, Simulation, SystemDef};
    /// let heat = SystemDef::from_text("heat.pde", "
    ///     pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); }
    ///     scheme s for Heat { space: central<order = 2>; time: euler; }
    /// ")?;
    /// let builder = || Simulation::<f64>::builder(&heat).cells([10, 1, 1]).dt(0.1);
    /// let error = builder().build()?.step().unwrap_err();
    /// assert!(matches!(&error, Error::Unstable(e) if (e.limit - 0.005).abs() < 1e-6), "{error}");
    /// builder().unchecked_step(true).build()?.step()?;
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    pub fn unchecked_step(mut self, unchecked: bool) -> Self {
        self.unchecked_step = unchecked;
        self
    }

    /// Sets how the limits of several axes are combined in the step that a [`cfl`](Self::cfl) number is a part of:
    /// [`Axes::Sum`] if not set.
    pub fn cfl_axes(mut self, axes: Axes) -> Self {
        self.cfl_axes = axes;
        self
    }

    /// Adapts each time step to the speeds that the system declares (`cfl { advective: ..; }`):
    ///
    /// dt = number / sum over p of max(speed_p) * rate_p,
    ///
    /// so that a step of number 1 is at the stability limit, whatever the speeds, the order, the integrator and the
    /// number of dimensions. p is 1 for `advective`, 2 for `diffusive`, 3 for `dispersive` and 4 for `hyperdiffusive`
    /// speeds. rate_p is the largest symbol of the scheme's p-th derivatives on these cells, over all axes together,
    /// by the reach of the integrator. If fluxes go through faces, rate_1 is the sum of 1/h over axes, by the Courant
    /// number of the reconstruction and the integrator in one dimension; of a sweep, it is the largest 1/h. Speeds
    /// along each axis have products of their own, combined alike. With fluxes that are repaired to keep ranges rate_1
    /// is 2d/h.
    ///
    /// ```
    /// # use stencil_runtime::{Simulation, SystemDef};
    /// let heat = SystemDef::from_text("heat.pde", "
    ///     pub system Heat in 2d {
    ///         field q: scalar;
    ///         param kappa: real = 0.5;
    ///         ddt(q) = kappa * lap(q);
    ///         cfl { diffusive: kappa }
    ///     }
    ///     scheme s for Heat { space: central<order = 2>; time: euler; }
    /// ")?;
    /// let mut simulation = Simulation::<f64>::builder(&heat).cells([10, 10, 1]).cfl(0.4).build()?;
    /// simulation.step()?;
    /// // h^2 / (2 kappa d)
    /// assert!((simulation.dt() / (0.4 * 0.01 / (0.5 * 4.0)) - 1.0).abs() < 1e-6);
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    pub fn cfl(mut self, number: f64) -> Self {
        self.cfl = Some(number);
        self
    }

    /// Sets the largest Courant number of a step by the speeds at its end, which may be higher than those that its
    /// length was chosen by. A step with a larger one is undone, and done again with the length that these speeds
    /// allow, as cudaclaw does (Ohannessian et al., section 4.1). None if not set. Each step then evaluates the speeds
    /// once more, and is checked by itself on a card.
    ///
    /// ```
    /// # use stencil_runtime::{Simulation, SystemDef};
    /// // A reaction that explodes: speeds grow within a step.
    /// let burst = SystemDef::from_text("burst.pde", "
    ///     pub system Burst in 1d {
    ///         field q: scalar;
    ///         ddt(q) = q^3 - q * d[x](q);
    ///         cfl { advective: abs(q) }
    ///     }
    /// ")?;
    /// let run = |limit: f64| -> Result<_, stencil_runtime::Error> {
    ///     let run = Simulation::<f64>::builder(&burst).cells([4, 1, 1]).cfl(0.9);
    ///     let mut simulation = run.cfl_limit(limit).build()?;
    ///     simulation.set("q", |_, _, _| 1.0)?;
    ///     simulation.run(2, |_, _| ())?;
    ///     Ok((simulation.rejected_steps(), simulation.t()))
    /// };
    /// let (loose, tight) = (run(1e9)?, run(1.0)?);
    /// assert!(loose.0 == 0 && tight.0 > 0 && tight.1 < loose.1);
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    pub fn cfl_limit(mut self, limit: f64) -> Self {
        self.cfl_limit = Some(limit);
        self
    }
}
