-- What a customer has used of a billable is in usage_counter. Here it was written a second time with
-- every fold, and read by nobody; now a row is written when access changes.
ALTER TABLE billable_access DROP COLUMN current_usage;
ALTER TABLE billable_access RESET (fillfactor);

-- Keys and chunks never change, so that nothing has to be cleared away. Marking their pages as read by
-- all writes each once more, and whole into the log: as much as storing them, in the middle of the
-- load, and in a small table at each doubling. It can wait until there are many, and take its time.
ALTER TABLE event_key SET (autovacuum_vacuum_insert_threshold = 20000000,
                           autovacuum_vacuum_cost_delay = 10);

-- Chunks are filled up to half a page: half as many rows, and as many entries of the index, as with a
-- quarter. From here on a row is compressed, or stored in a second table.
CREATE OR REPLACE FUNCTION event_chunk_tended(month regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s SET (autovacuum_vacuum_insert_scale_factor = 1,
                                      autovacuum_vacuum_insert_threshold = 1000000,
                                      autovacuum_vacuum_cost_delay = 10,
                                      autovacuum_analyze_scale_factor = 1,
                                      toast_tuple_target = 4080)', month);
  EXECUTE format('ALTER TABLE %s ALTER content SET STATISTICS 0', month);
END $$;

SELECT event_chunk_tended(t.relid)
  FROM pg_partition_tree('event_chunk') t
 WHERE t.isleaf;
