-- Months whose events were dropped. Their keys stay; what was counted of them can be counted by
-- nobody again.
CREATE TABLE event_month_dropped (
  month      date        NOT NULL PRIMARY KEY,  -- its first day, of UTC
  dropped_at timestamptz NOT NULL               -- for the last time, by the system's clock
);

-- To find and drop the months that are in there.
CREATE INDEX event_chunk_other_first_at ON event_chunk_other (first_at);

-- As before, but with the locks in the order in which a drop takes them: first of all months.
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
  LOCK TABLE ONLY event_chunk IN SHARE UPDATE EXCLUSIVE MODE;
  PERFORM pg_advisory_xact_lock(1836019316, 0); -- "mont"
  BEGIN
    LOCK TABLE event_chunk_other IN ACCESS EXCLUSIVE MODE NOWAIT;
  EXCEPTION WHEN lock_not_available THEN
    RETURN; -- nobody waits for who reads it for long, nor behind that: see version 8
  END;
  IF to_regclass(name) IS NOT NULL THEN
    RETURN; -- another process was faster
  END IF;
  EXECUTE format('CREATE TABLE %I (LIKE event_chunk INCLUDING CONSTRAINTS)', name);
  EXECUTE format(
    'WITH moved AS (DELETE FROM event_chunk_other WHERE first_at >= %L AND first_at < %L RETURNING *)
     INSERT INTO %I SELECT * FROM moved', since, until, name);
  EXECUTE format(
    'ALTER TABLE event_chunk ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, since, until);
END $$;
