"""Taking guardfix into a large tree: findings recognized later, baselines, changed lines, comments, owners."""
