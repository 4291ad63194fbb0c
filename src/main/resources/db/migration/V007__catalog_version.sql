-- Counts the changes of a merchant's catalogue, for whoever keeps a copy of a part of it.
ALTER TABLE merchant ADD catalog_version bigint NOT NULL DEFAULT 0;
