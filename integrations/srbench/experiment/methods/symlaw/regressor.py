"""symlaw for SRBench: the estimator `est`, its formula as text `model`, and how it is evaluated."""
import os

from symlaw import SymbolicRegressor

# evaluate_model.py sets random_state and max_time. The C code ends by itself at max_time; the alarm
# that comes later would end it too. Threads follow the number of cores that a job has.
est = SymbolicRegressor(
    effort="high",
    max_time=3600,
    random_state=0,
    fill="mean",  # scores take no NaN: a formula may have no value at a point of the test set
    n_jobs=int(os.environ.get("OMP_NUM_THREADS", "1")),
)


def model(est, X=None):
    """The formula for SymPy, with the names of the data frame's columns.

    Numbers are integers and fractions: SRBench rounds decimals to three places, and takes those
    below 0.0001 for zero."""
    return est.formula_.exact_text()


eval_kwargs = {
    "scale_x": False,  # the formula is that of the data as they are
    "scale_y": False,
    "use_dataframe": True,
    "max_train_samples": 10000,
    "test_params": {"effort": "low", "max_time": 60},
}
