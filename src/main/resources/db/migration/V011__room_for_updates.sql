-- Both are rewritten with nearly every fold. Where a page has room for the new version of a row, no
-- index has to be written, and the old version is cleared away by whoever comes next.
ALTER TABLE usage_counter SET (fillfactor = 45);
ALTER TABLE billable_access SET (fillfactor = 45);
