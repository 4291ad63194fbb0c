-- Before a month gets a table of its own, PostgreSQL looks through the table of the others for rows of
-- it, by no index, while nobody may use that table: that took the longer the more old events were
-- brought in. Cut in years that say what is in them, all but the month's own year are passed over.

ALTER TABLE event_chunk DETACH PARTITION event_chunk_other;
ALTER TABLE event_chunk_other RENAME TO event_chunk_of_version_9;
DROP INDEX event_chunk_other_first_at;

CREATE TABLE event_chunk_other (LIKE event_chunk INCLUDING CONSTRAINTS) PARTITION BY RANGE (first_at);

-- What spares the look is the check: the bounds of a part of a part are not asked.
CREATE TABLE event_chunk_other_before_2024
  PARTITION OF event_chunk_other (CHECK (first_at < '2024-01-01Z'))
  FOR VALUES FROM (MINVALUE) TO ('2024-01-01Z');
DO $$
DECLARE
  since timestamptz;
  until timestamptz;
BEGIN
  FOR year IN 2024 .. 2039 LOOP
    since := make_timestamptz(year, 1, 1, 0, 0, 0, 'UTC');
    until := make_timestamptz(year + 1, 1, 1, 0, 0, 0, 'UTC');
    EXECUTE format(
      'CREATE TABLE event_chunk_other_%s
         PARTITION OF event_chunk_other (CHECK (first_at >= %L AND first_at < %L))
         FOR VALUES FROM (%L) TO (%L)', year, since, until, since, until);
  END LOOP;
END $$;
CREATE TABLE event_chunk_other_since_2040
  PARTITION OF event_chunk_other (CHECK (first_at >= '2040-01-01Z'))
  FOR VALUES FROM ('2040-01-01Z') TO (MAXVALUE);

INSERT INTO event_chunk_other (merchant_id, customer_id, first_at, last_at, events, content)
SELECT merchant_id, customer_id, first_at, last_at, events, content
  FROM event_chunk_of_version_9;
DROP TABLE event_chunk_of_version_9;

ALTER TABLE event_chunk ATTACH PARTITION event_chunk_other DEFAULT;
-- To find and drop the months that are in there.
CREATE INDEX event_chunk_other_first_at ON event_chunk_other (first_at);
