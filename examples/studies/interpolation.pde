/// Five fields, each moved towards the mean of its neighbours: thirteen points along the axes (Cygert et al., Using GPUs for Parallel
/// Stencil Computations in Relativistic Hydrodynamic Simulation, 2014, section 2.4).
///
/// The fields are those of `Nuclei`, with the arithmetic of a gas left out.
pub system Interpolation in 3d {
    field R: scalar [1/m^3];
    field M: vector [J/m^3];
    field E: scalar [J/m^3];
    param D: real [m^2/s] = 1 where D >= 0;

    ddt(R) = D*lap(R);
    ddt(M) = D*lap(M);
    ddt(E) = D*lap(E);
}
scheme central4 for Interpolation { space: central<order = 4>; time: euler; }
