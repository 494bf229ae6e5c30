"""The paper's tables, made from finished runs, with the paper's own figures."""
