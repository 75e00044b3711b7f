//! Light in a vacuum.

system! {
    /// Maxwell's equations in a vacuum, with electric fields on edges and magnetic ones on faces (K. S. Yee, IEEE Trans.
    /// Antennas Propag. 14, 302, 1966).
    ///
    /// `e` is the electric field and `b` the magnetic one; `c` is the speed of light. The divergence of `b` stays as it
    /// begins: the fluxes of the curl through the faces of a cell cancel. Begin `b` as the curl of a potential. A wall
    /// is a perfect conductor.
    pub system Maxwell in nd {
        edge field e: vector<3> [V/m];
        face field b: vector<3> [T];
        param c: real [m/s] = 1 where c > 0;

        ddt(e) = c^2*curl(b);
        ddt(b) = -curl(e);

        let electric = to_cells([e.x^2, e.y^2, e.z^2]);
        let magnetic = to_cells([b.x^2, b.y^2, b.z^2]);
        observe energy = mean((dot(electric, [1, 1, 1]) + c^2*dot(magnetic, [1, 1, 1]))/2);
        observe largest_divergence = max(abs(div(b)));
        cfl { advective: c; }
    }
    scheme yee for Maxwell { space: central<order = 2>; time: ssprk3; }
    scheme yee4 for Maxwell { space: central<order = 4>; time: rk4; }
}
