"""Display of nodes: reports and trees."""
