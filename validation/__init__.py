"""What Drivelab claims, proved by running it: writes VALIDATION.md (`make validate`)."""
