-- What a customer has used of a billable is in usage_counter. Here it was written a second time with
-- every fold, and read by nobody; now a row is written when access changes.
ALTER TABLE billable_access DROP COLUMN current_usage;
ALTER TABLE billable_access RESET (fillfactor);

-- Keys and chunks never change, and what is dead among keys is only what refused flushes left. Marking
-- their pages as read by all writes each once more, and those written since the last checkpoint whole
-- into the log: as much as storing them, in the middle of the load. It can wait until there are many,
-- and take some time. (A share would not do: of a table that is never sampled it is a share of nothing,
-- and what is marked already does not count.)
ALTER TABLE event_key SET (autovacuum_vacuum_insert_threshold = 20000000,
                           autovacuum_vacuum_threshold = 1000000,
                           autovacuum_vacuum_cost_delay = 4);

-- Chunks are filled up to half a page: half as many rows, and as many entries of the index, as with a
-- quarter. From here on a row is compressed, or stored in a second table.
CREATE OR REPLACE FUNCTION event_chunk_tended(month regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s SET (autovacuum_vacuum_insert_scale_factor = 1,
                                      autovacuum_vacuum_insert_threshold = 1000000,
                                      autovacuum_vacuum_cost_delay = 4,
                                      autovacuum_analyze_scale_factor = 1,
                                      toast_tuple_target = 4080)', month);
  EXECUTE format('ALTER TABLE %s ALTER content SET STATISTICS 0', month);
END $$;

SELECT event_chunk_tended(t.relid)
  FROM pg_partition_tree('event_chunk') t
 WHERE t.isleaf;
