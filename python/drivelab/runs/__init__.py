"""The life cycle of a run: opened or resumed, locked, journalled, stopped so that it can resume."""
