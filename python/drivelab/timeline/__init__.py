"""When dispatch, channels and flash units of a simulated drive work, request by request."""
