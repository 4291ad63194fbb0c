-- Events, in three parts for three purposes. Whether an event was there before is decided by
-- event_key, which is as narrow as can be and kept for ever. What was accepted waits in event_batch,
-- its events with it, until it is counted. Counted events go to event_chunk, sorted by customer and
-- time, where a month of them can be dropped without forgetting their keys.

-- What a merchant's keys are stored under, in a quarter of an id's space.
ALTER TABLE merchant ADD number integer GENERATED ALWAYS AS IDENTITY CONSTRAINT merchant_number_key UNIQUE;

ALTER TABLE event RENAME TO event_of_version_7;

-- First write wins, for ever.
CREATE TABLE event_key (
  merchant_number integer NOT NULL,
  payload_hash    integer NOT NULL,  -- tells a repetition from a different event under the same key
  key             uuid    NOT NULL,  -- the idempotency key, or 128 bits of its SHA-256
  PRIMARY KEY (merchant_number, key)
);

-- Both hold their events as a JSON array of objects:
--   c  the customer's id as a UUID, only in batches     r  the id as sent, if it is no customer id
--   k  the key                                          t  generatedAt in milliseconds since 1970
--   n  the event's name      u  the user's id, if any   d  the data as sent, if any
CREATE TABLE event_chunk (
  merchant_id uuid        NOT NULL,
  customer_id uuid,
  first_at    timestamptz NOT NULL,
  last_at     timestamptz NOT NULL,  -- on the same day of UTC as first_at
  events      integer     NOT NULL CHECK (events > 0),
  content     text        NOT NULL   -- in the order of t and k
) PARTITION BY RANGE (first_at);
-- With the end, so that who goes on within a day finds the chunks that reach into what is left.
CREATE INDEX event_chunk_customer ON event_chunk (customer_id, first_at, last_at);
-- Of months that have no table of their own: very old ones, and those far ahead.
CREATE TABLE event_chunk_other PARTITION OF event_chunk DEFAULT;

-- Gives the month that an instant is in (of UTC) a table of its own, if it has none yet, and nobody
-- is reading the table of the others: a check of all books does so for minutes, for which neither
-- the fold nor who would have to wait behind it may stand still. Until then what comes goes to the
-- others, and moves with the next that asks.
CREATE FUNCTION event_month(instant timestamptz) RETURNS void LANGUAGE plpgsql AS $$
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
  EXECUTE format(
    'WITH moved AS (DELETE FROM event_chunk_other WHERE first_at >= %L AND first_at < %L RETURNING *)
     INSERT INTO %I SELECT * FROM moved', since, until, name);
  EXECUTE format(
    'ALTER TABLE event_chunk ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, since, until);
END $$;

-- Written and deleted at the rate of the events: what is dead must be found at once. Nothing in it
-- is worth compressing, as it lives for a second.
ALTER TABLE event_batch ADD content bytea;
ALTER TABLE event_batch ADD repeats integer[];  -- which of the content's events, from 1, are none
ALTER TABLE event_batch ALTER content SET STORAGE EXTERNAL;
ALTER TABLE event_batch SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0,
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 20000,
  toast.autovacuum_vacuum_cost_delay = 0);

-- What is stored already.
INSERT INTO event_key (merchant_number, payload_hash, key)
SELECT m.number,
       ((((e.payload_hash & 4294967295) + 2147483648) % 4294967296) - 2147483648)::integer, e.key
  FROM event_of_version_7 e
  JOIN merchant m ON m.id = e.merchant_id
 ORDER BY m.number, e.key;

CREATE FUNCTION event_content_of_version_7(e event_of_version_7) RETURNS text LANGUAGE sql AS $$
  SELECT '"k":"' || (e).key || '","t":'
         || (extract(epoch FROM (e).generated_at) * 1000)::bigint
         || coalesce(',"r":' || to_json((e).customer_ref)::text, '')
         || ',"n":' || to_json((e).name)::text
         || coalesce(',"u":' || to_json((e).user_id)::text, '')
         || coalesce(',"d":' || (e).data, '') || '}'
$$;

UPDATE event_batch b
   SET content = convert_to(coalesce(
         (SELECT '[' || string_agg('{' || coalesce('"c":"' || e.customer_id || '",', '')
                                   || event_content_of_version_7(e), ',') || ']'
            FROM event_of_version_7 e
           WHERE e.batch = b.batch AND e.merchant_id = b.merchant_id), '[]'), 'UTF8');
ALTER TABLE event_batch ALTER content SET NOT NULL;

CREATE TEMPORARY TABLE counted_of_version_7 ON COMMIT DROP AS
SELECT e.merchant_id, e.customer_id, e.key, e.generated_at,
       '{' || event_content_of_version_7(e) AS content,
       (row_number() OVER (PARTITION BY e.merchant_id, e.customer_id,
                                        date_trunc('day', e.generated_at AT TIME ZONE 'UTC')
                               ORDER BY e.generated_at, e.key) - 1) / 16 AS chunk
  FROM event_of_version_7 e
 WHERE NOT EXISTS (SELECT FROM event_batch b
                    WHERE b.batch = e.batch AND b.merchant_id = e.merchant_id);

SELECT event_month(months.since)
  FROM (SELECT DISTINCT date_trunc('month', generated_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS since
          FROM counted_of_version_7
         WHERE generated_at >= date_trunc('month', now() - interval '24 months', 'UTC')
           AND generated_at < date_trunc('month', now() + interval '3 months', 'UTC')) months;

INSERT INTO event_chunk (merchant_id, customer_id, first_at, last_at, events, content)
SELECT merchant_id, customer_id, min(generated_at), max(generated_at), count(*),
       '[' || string_agg(content, ',' ORDER BY generated_at, key) || ']'
  FROM counted_of_version_7
 GROUP BY merchant_id, customer_id, date_trunc('day', generated_at AT TIME ZONE 'UTC'), chunk
 ORDER BY merchant_id, customer_id, min(generated_at);

DROP FUNCTION event_content_of_version_7;
DROP TABLE event_of_version_7;

-- Events one by one. Ask for a span of chunk_first_at and chunk_last_at too: these find the chunks.
CREATE VIEW counted_event AS
SELECT c.merchant_id, e.k AS key, c.customer_id,
       timestamptz 'epoch' + e.t * interval '1 millisecond' AS generated_at,
       e.r AS customer_ref, e.n AS name, e.u AS user_id, e.d::text AS data,
       c.first_at AS chunk_first_at, c.last_at AS chunk_last_at
  FROM event_chunk c
 CROSS JOIN LATERAL json_to_recordset(c.content::json)
         AS e (k uuid, t bigint, r text, n text, u text, d json);

CREATE VIEW waiting_event AS
SELECT b.merchant_id, e.k AS key, e.c AS customer_id,
       timestamptz 'epoch' + e.t * interval '1 millisecond' AS generated_at,
       e.r AS customer_ref, e.n AS name, e.u AS user_id, e.d::text AS data, b.batch
  FROM event_batch b
 CROSS JOIN LATERAL ROWS FROM (
         json_to_recordset(convert_from(b.content, 'UTF8')::json)
           AS (c uuid, k uuid, t bigint, r text, n text, u text, d json)
       ) WITH ORDINALITY AS e (c, k, t, r, n, u, d, position)
 WHERE b.repeats IS NULL OR e.position <> ALL (b.repeats);

-- All that was accepted.
CREATE VIEW event AS
SELECT merchant_id, key, customer_id, generated_at, customer_ref, name, user_id, data
  FROM counted_event
UNION ALL
SELECT merchant_id, key, customer_id, generated_at, customer_ref, name, user_id, data
  FROM waiting_event;
