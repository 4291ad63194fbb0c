-- Both are rewritten with nearly every fold. Where a page has room for the new version of a row, no
-- index has to be written, and the old version is cleared away by whoever comes next.
ALTER TABLE usage_counter SET (fillfactor = 45);
ALTER TABLE billable_access SET (fillfactor = 45);

-- These only grow: a vacuum finds nothing to clear away and may wait until they have doubled. As a
-- sample of their rows is read in one go, at the cost of those who wait for their events to be stored,
-- none is where none is of use: keys are looked up one by one, and nobody asks by content. (A slower
-- sample would be worse: while it is taken, nobody can clear away old versions of any row.)
ALTER TABLE event_key SET (autovacuum_vacuum_insert_scale_factor = 1,
                           autovacuum_analyze_threshold = 2147483647);

CREATE FUNCTION event_chunk_tended(month regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s SET (autovacuum_vacuum_insert_scale_factor = 1,
                                      autovacuum_analyze_scale_factor = 1)', month);
  EXECUTE format('ALTER TABLE %s ALTER content SET STATISTICS 0', month);
END $$;

SELECT event_chunk_tended(t.relid)
  FROM pg_partition_tree('event_chunk') t
 WHERE t.isleaf;

-- As it was, and the new month is tended.
CREATE OR REPLACE FUNCTION event_month(instant timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  first_day timestamp := date_trunc('month', instant AT TIME ZONE 'UTC');
  since     timestamptz := first_day AT TIME ZONE 'UTC';
  until     timestamptz := (first_day + interval '1 month') AT TIME ZONE 'UTC';
  name      text := 'event_chunk_' || to_char(first_day, 'YYYY_MM');
BEGIN
  IF to_regclass(name) IS NOT NULL THEN
    RETURN;
  END IF;
  -- In the order in which a drop of a month takes them: first of all months.
  LOCK TABLE ONLY event_chunk IN SHARE UPDATE EXCLUSIVE MODE;
  PERFORM pg_advisory_xact_lock(1836019316, 0); -- "mont"
  BEGIN
    LOCK TABLE event_chunk_other IN ACCESS EXCLUSIVE MODE NOWAIT;
  EXCEPTION WHEN lock_not_available THEN
    RETURN;
  END;
  IF to_regclass(name) IS NOT NULL THEN
    RETURN; -- another process was faster; seen behind a lock of a table only
  END IF;
  EXECUTE format('CREATE TABLE %I (LIKE event_chunk INCLUDING CONSTRAINTS)', name);
  PERFORM event_chunk_tended(name::regclass);
  EXECUTE format(
    'WITH moved AS (DELETE FROM event_chunk_other WHERE first_at >= %L AND first_at < %L RETURNING *)
     INSERT INTO %I SELECT * FROM moved', since, until, name);
  EXECUTE format(
    'ALTER TABLE event_chunk ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, since, until);
END $$;
