-- Events as version 7 had them, in a database that version 1 has begun: of two merchants, counted
-- and waiting, of many years, and with data as clients write it. No two are the same.

INSERT INTO merchant (id, name, environment, timezone, created_at, updated_at)
VALUES ('01900000-0000-7000-8000-000000000002', 'Other', 'live', 'UTC', '2025-01-01Z', '2025-01-01Z');

-- Counted long ago, by no rule; 40 of one day, and each month of 30 years.
INSERT INTO event (merchant_id, key, batch, customer_id, payload_hash, generated_at, customer_ref,
    name, user_id, data)
SELECT m.id, md5(m.id || ' day ' || n)::uuid, 3, '01900000-0000-7000-8000-000000000101',
       n * 1000003 * 1000003::bigint, timestamptz '2039-12-30 00:00Z' + n / 4 * interval '1 hour',
       NULL, 'day', NULL, '{ "n" :' || n || E',\n\t"s": "ä😀\\"\\\\\\u00e9" }'
  FROM merchant m, generate_series(0, 39) n;
INSERT INTO event (merchant_id, key, batch, customer_id, payload_hash, generated_at, customer_ref,
    name, user_id, data)
SELECT m.id, md5(m.id || ' month ' || n)::uuid, 4, NULL, -n,
       timestamptz '2010-01-31 23:59:59.999Z' + n * interval '1 month', E'no "customer" \\ ' || n,
       E'month\n' || n, CASE WHEN n % 3 = 0 THEN E'user \u001F "é"' END, NULL
  FROM merchant m, generate_series(1, 360) n;
INSERT INTO event (merchant_id, key, batch, customer_id, payload_hash, generated_at, name, user_id,
    data)
SELECT m.id, k.key::uuid, 5, '01900000-0000-7000-8000-000000000102', k.hash,
       now() + k.days * interval '1 day', 'edge', 'u', '{}'
  FROM merchant m,
       (VALUES ('00000000-0000-0000-0000-000000000000', 9223372036854775807, 0),
               ('ffffffff-ffff-ffff-ffff-ffffffffffff', -9223372036854775808, -400),
               ('80000000-0000-0000-0000-000000000000', 2147483648, 20)) AS k (key, hash, days);
UPDATE event SET generated_at = date_trunc('milliseconds', generated_at);

-- Waiting: two batches of one number, and one of another. The open monthly subscription has used 30
-- calls before, and another 1 + 2 + 3 + 10 + 20 here.
INSERT INTO event (merchant_id, key, batch, customer_id, payload_hash, generated_at, customer_ref,
    name, user_id, data)
SELECT m.id, md5(m.id || ' call ' || w.batch || w.n)::uuid, w.batch,
       '01900000-0000-7000-8000-000000000101', w.n, '2040-01-20 00:00Z', NULL, 'call', NULL,
       '{"count" : ' || w.n || '}'
  FROM merchant m,
       (VALUES (50, 1), (50, 2), (50, 3), (51, 10), (51, 20)) AS w (batch, n)
 WHERE m.id = '01900000-0000-7000-8000-000000000001' OR w.batch = 50;
INSERT INTO event (merchant_id, key, batch, customer_id, payload_hash, generated_at, customer_ref,
    name, user_id, data)
VALUES ('01900000-0000-7000-8000-000000000001', md5('nobody')::uuid, 51, NULL, 1,
        '2040-01-20 00:00Z', 'nobody', 'call', 'u', '{"count":1000}');
INSERT INTO event_batch (batch, merchant_id, events, bytes, stored_at)
SELECT batch, merchant_id, count(*), 500 * count(*), '2040-02-01Z'
  FROM event WHERE batch IN (50, 51) GROUP BY batch, merchant_id;
SELECT setval('event_batch_seq', 100);
