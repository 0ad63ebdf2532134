"""[fit] What methods share: edges and hubs, moments, held-out words, solvers, self-learning."""
