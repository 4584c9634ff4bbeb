"""Taking guardfix into a large tree: findings told again later, baselines, changed lines, comments, owners."""
