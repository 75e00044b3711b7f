//! Methods that several kinds of pictures have.

/// Methods that set the texts above a plot.
macro_rules! titles {
    () => {
        /// Sets the title.
        pub fn title(mut self, title: impl Into<String>) -> Self {
            self.title = title.into();
            self
        }

        /// Sets the subtitle.
        pub fn subtitle(mut self, subtitle: impl Into<String>) -> Self {
            self.subtitle = subtitle.into();
            self
        }
    };
}

/// Methods that set the colours of values.
macro_rules! colors {
    () => {
        /// Sets the colours.
        pub fn map(mut self, map: $crate::plot::ColorMap) -> Self {
            self.map = map;
            self
        }

        /// Fixes the values at the ends of the colours, as for the frames of a film.
        pub fn range(mut self, low: f64, high: f64) -> Self {
            self.range = Some((low, high));
            self
        }
    };
}

pub(super) use {colors, titles};
