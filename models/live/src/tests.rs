mod baseline;
