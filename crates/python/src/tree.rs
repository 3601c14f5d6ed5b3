//! Trees over buffers of float64 (NumPy arrays, `array.array`).

use drivelab_tree::{
    BoostParameters, Ensemble, EnsembleArrays, GuideParameters, LeafModel, Loss, Matrix, TreeError,
    any_within, fit, fit_guide,
};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::usage_error;

/// A validated sum of trees that predicts batches.
#[pyclass(name = "TreeEnsemble", module = "drivelab._core", frozen)]
struct PyTreeEnsemble(Ensemble);

#[pymethods]
impl PyTreeEnsemble {
    /// Builds an ensemble from the dictionary of arrays that `arrays` returns.
    #[staticmethod]
    fn from_arrays(arrays: &Bound<'_, PyDict>) -> PyResult<Self> {
        let arrays = read_arrays(arrays)?;
        let ensemble = Ensemble::from_arrays(arrays).map_err(usage_error)?;
        Ok(Self(ensemble))
    }

    /// The arrays that describe the ensemble completely, by name.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let arrays = self.0.arrays();
        let result = PyDict::new(py);
        result.set_item("columns", arrays.columns)?;
        result.set_item("base", arrays.base)?;
        result.set_item("roots", &arrays.roots)?;
        result.set_item("feature", &arrays.feature)?;
        result.set_item("threshold", &arrays.threshold)?;
        result.set_item("left", &arrays.left)?;
        result.set_item("right", &arrays.right)?;
        result.set_item("missing_left", &arrays.missing_left)?;
        result.set_item("value", &arrays.value)?;
        result.set_item("terms", &arrays.terms)?;
        result.set_item("term_feature", &arrays.term_feature)?;
        result.set_item("term_coefficient", &arrays.term_coefficient)?;
        result.set_item("term_centre", &arrays.term_centre)?;
        result.set_item("term_low", &arrays.term_low)?;
        result.set_item("term_high", &arrays.term_high)?;
        if !arrays.categories.is_empty() {
            result.set_item("categories", &arrays.categories)?;
            result.set_item("category", &arrays.category)?;
        }
        Ok(result)
    }

    /// Pickled as its arrays.
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDict>,))> {
        let rebuild = slf.get_type().getattr("from_arrays")?;
        Ok((rebuild, (slf.get().arrays(slf.py())?,)))
    }

    /// Number of trees.
    #[getter]
    fn trees(&self) -> usize {
        self.0.trees()
    }

    /// One float64 for each row, as bytes, from a row-major buffer of float64.
    #[pyo3(signature = (features, rows, columns, threads = 1))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        features: PyBuffer<f64>,
        rows: usize,
        columns: usize,
        threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let values = features.to_vec(py)?;
        let predictions = py
            .detach(|| {
                let matrix = Matrix::new(&values, rows, columns)?;
                self.0.predict(&matrix, threads)
            })
            .map_err(|error: TreeError| usage_error(error))?;
        PyBytes::new_with(py, predictions.len() * size_of::<f64>(), |bytes| {
            for (into, value) in bytes.chunks_exact_mut(size_of::<f64>()).zip(predictions) {
                into.copy_from_slice(&value.to_ne_bytes());
            }
            Ok(())
        })
    }
}

fn read_arrays(arrays: &Bound<'_, PyDict>) -> PyResult<EnsembleArrays> {
    let item = |name: &str| {
        arrays
            .get_item(name)?
            .ok_or_else(|| PyValueError::new_err(format!("the array {name} is missing")))
    };
    // Trees without categories do not have them.
    let if_any = |name: &str| arrays.get_item(name);
    Ok(EnsembleArrays {
        columns: item("columns")?.extract()?,
        base: item("base")?.extract()?,
        roots: item("roots")?.extract()?,
        feature: item("feature")?.extract()?,
        threshold: item("threshold")?.extract()?,
        left: item("left")?.extract()?,
        right: item("right")?.extract()?,
        missing_left: item("missing_left")?.extract()?,
        value: item("value")?.extract()?,
        terms: item("terms")?.extract()?,
        term_feature: item("term_feature")?.extract()?,
        term_coefficient: item("term_coefficient")?.extract()?,
        term_centre: item("term_centre")?.extract()?,
        term_low: item("term_low")?.extract()?,
        term_high: item("term_high")?.extract()?,
        categories: if_any("categories")?.map_or(Ok(Vec::new()), |found| found.extract())?,
        category: if_any("category")?.map_or(Ok(Vec::new()), |found| found.extract())?,
    })
}

/// Fits boosted trees with linear leaves; see `drivelab.models.estimators`.
#[pyfunction]
#[pyo3(signature = (
    features, rows, columns, targets, *, rounds, learning_rate, max_leaves, min_samples_leaf,
    ridge, max_bins, row_fraction, linear_leaves, seed,
))]
#[allow(clippy::too_many_arguments)] // keyword arguments, one a parameter
fn fit_trees(
    py: Python<'_>,
    features: PyBuffer<f64>,
    rows: usize,
    columns: usize,
    targets: PyBuffer<f64>,
    rounds: u32,
    learning_rate: f64,
    max_leaves: u32,
    min_samples_leaf: u32,
    ridge: f64,
    max_bins: u32,
    row_fraction: f64,
    linear_leaves: bool,
    seed: u64,
) -> PyResult<PyTreeEnsemble> {
    let parameters = BoostParameters {
        rounds,
        learning_rate,
        max_leaves,
        min_samples_leaf,
        ridge,
        max_bins,
        row_fraction,
        leaf_model: if linear_leaves {
            LeafModel::Linear
        } else {
            LeafModel::Constant
        },
        seed,
    };
    let values = features.to_vec(py)?;
    let targets = targets.to_vec(py)?;
    let fitted = py.detach(|| {
        let matrix = Matrix::new(&values, rows, columns)?;
        fit(&matrix, &targets, &parameters)
    });
    fitted.map(PyTreeEnsemble).map_err(usage_error)
}

/// Fits one tree with linear leaves; see `drivelab.models.linear_leaf_tree`.
///
/// Returns the tree, facts about each node as a dictionary of lists, and importances.
#[pyfunction]
#[pyo3(signature = (
    features, rows, columns, targets, weights, categorical, *, quantile, max_depth,
    min_samples_leaf, ridge, max_bins, folds, standard_errors, threads,
))]
#[allow(clippy::too_many_arguments)] // keyword arguments, one a parameter
fn fit_linear_leaf_tree<'py>(
    py: Python<'py>,
    features: PyBuffer<f64>,
    rows: usize,
    columns: usize,
    targets: PyBuffer<f64>,
    weights: PyBuffer<f64>,
    categorical: Vec<bool>,
    quantile: Option<f64>,
    max_depth: u32,
    min_samples_leaf: u32,
    ridge: f64,
    max_bins: u32,
    folds: u32,
    standard_errors: f64,
    threads: usize,
) -> PyResult<(PyTreeEnsemble, Bound<'py, PyDict>, Vec<f64>)> {
    let parameters = GuideParameters {
        loss: quantile.map_or(Loss::Squared, Loss::Quantile),
        max_depth,
        min_samples_leaf,
        ridge,
        max_bins,
        folds,
        standard_errors,
    };
    let values = features.to_vec(py)?;
    let (targets, weights) = (targets.to_vec(py)?, weights.to_vec(py)?);
    let fitted = py.detach(|| {
        let matrix = Matrix::new(&values, rows, columns)?;
        fit_guide(
            &matrix,
            &targets,
            &weights,
            &categorical,
            &parameters,
            threads,
        )
    });
    let fitted = fitted.map_err(usage_error)?;
    let nodes = PyDict::new(py);
    let words = || fitted.nodes.iter();
    nodes.set_item("weight", words().map(|n| n.weight).collect::<Vec<_>>())?;
    nodes.set_item("mean", words().map(|n| n.mean).collect::<Vec<_>>())?;
    nodes.set_item("loss", words().map(|n| n.loss).collect::<Vec<_>>())?;
    let by_interaction: Vec<bool> = words().map(|n| n.by_interaction).collect();
    nodes.set_item("by_interaction", by_interaction)?;
    Ok((PyTreeEnsemble(fitted.ensemble), nodes, fitted.importances))
}

/// One byte for each row: 1 if any of `others` lies within the radius, else 0.
#[pyfunction]
#[pyo3(name = "any_within")]
fn py_any_within<'py>(
    py: Python<'py>,
    features: PyBuffer<f64>,
    others: PyBuffer<f64>,
    columns: usize,
    radius: f64,
) -> PyResult<Bound<'py, PyBytes>> {
    let rows = features.to_vec(py)?;
    let others = others.to_vec(py)?;
    let near = py.detach(|| {
        let count = |values: &[f64]| values.len().checked_div(columns).unwrap_or(0);
        let rows = Matrix::new(&rows, count(&rows), columns)?;
        let others = Matrix::new(&others, count(&others), columns)?;
        any_within(&rows, &others, radius)
    });
    let near: Vec<u8> = near
        .map_err(usage_error)?
        .into_iter()
        .map(u8::from)
        .collect();
    Ok(PyBytes::new(py, &near))
}

/// Adds this module's functions and classes to the Python module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyTreeEnsemble>()?;
    module.add_function(wrap_pyfunction!(fit_trees, module)?)?;
    module.add_function(wrap_pyfunction!(fit_linear_leaf_tree, module)?)?;
    module.add_function(wrap_pyfunction!(py_any_within, module)?)
}
