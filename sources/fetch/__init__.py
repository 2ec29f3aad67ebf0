"""Where code comes from: packages, repositories, archives, data sets, folders."""
