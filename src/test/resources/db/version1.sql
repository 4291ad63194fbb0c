-- What version 1 had written, at noon of 10 February 2040 by the clock of a test merchant in New
-- York: a catalogue, and a subscription of each kind. The last digits of an id tell what it is of.

INSERT INTO merchant (id, name, environment, timezone, clock_now, created_at, updated_at)
VALUES ('01900000-0000-7000-8000-000000000001', 'Acme', 'test', 'America/New_York',
        '2040-02-10 12:00Z', '2025-01-01Z', '2025-01-01Z');
INSERT INTO invoice_number VALUES ('01900000-0000-7000-8000-000000000001', 5);

INSERT INTO custom_pricing_unit (id, merchant_id, key, display_name, display_name_singular,
    short_name, status, created_at, updated_at)
SELECT u.id, m.id, u.key, u.key, u.key, u.key, 'available', m.created_at, m.created_at
  FROM merchant m,
       (VALUES (uuid '01900000-0000-7000-8000-000000000011', 'credits'),
               (uuid '01900000-0000-7000-8000-000000000012', 'seats')) AS u (id, key);

INSERT INTO billable (id, merchant_id, slug, name, description, status, external_flag_id,
    included_label, single_unit_label, multiple_unit_label, is_private, show_on_invoice, hidden,
    display_order, event_query_rules, created_at, updated_at)
SELECT '01900000-0000-7000-8000-000000000021', m.id, 'calls', 'Calls', '', 'available', '',
       'Calls', 'call', 'calls', false, true, false, 0,
       '{"conditions":[[{"key":"eventName","rule":"matches","value":"call"}]],'
         '"calculation":"sum","overProperty":"data.count"}', m.created_at, m.created_at
  FROM merchant m;

INSERT INTO plan (id, merchant_id, external_id, cross_environment_id, name, description, currency,
    net_terms, is_private, purchasable, request_pricing_text, request_pricing_url, status,
    trial_days, charge_usage_during_trial, created_at, updated_at)
SELECT '01900000-0000-7000-8000-000000000031', m.id, 'pro', '01900000-0000-7000-8000-000000000039',
       'Pro', '', 'USD', 'net30', false, true, '', '', 'available', 0, false, m.created_at,
       m.created_at
  FROM merchant m;

INSERT INTO price (id, merchant_id, plan_id, is_base, name, billing_cadence, billing_mode,
    block_overage, entity_type, price_type, rules, uses_custom_pricing_unit, billable_id, position,
    active_from, created_at)
SELECT v.id, p.merchant_id, p.id, v.billable_id IS NULL, v.name, v.cadence, v.mode, false,
       CASE WHEN v.billable_id IS NULL THEN 'basePlan' ELSE 'entitlement' END, 'unit',
       json_build_object('quantity', 1, 'price', v.amount), false, v.billable_id, 0, p.created_at,
       p.created_at
  FROM plan p,
       (VALUES (uuid '01900000-0000-7000-8000-000000000041', 'Monthly', 'monthly', 'advance', 49.0,
                null),
               ('01900000-0000-7000-8000-000000000042', 'Annual', 'annually', 'advance', 490, null),
               ('01900000-0000-7000-8000-000000000043', 'Once', 'oneTime', 'advance', 900, null),
               ('01900000-0000-7000-8000-000000000044', 'Calls', null, 'arrears', 0.5,
                uuid '01900000-0000-7000-8000-000000000021'))
         AS v (id, name, cadence, mode, amount, billable_id);

INSERT INTO plan_allocation (id, merchant_id, plan_id, custom_pricing_unit_id, amount,
    billing_cadence, rollover_max, position, active_from, created_at)
SELECT gen_random_uuid(), p.merchant_id, p.id, u.id, v.amount, v.cadence, v.rollover_max, 0,
       p.created_at, p.created_at
  FROM plan p
  JOIN (VALUES ('credits', 100, 'monthly', 20), ('seats', 7, 'annually', null))
         AS v (key, amount, cadence, rollover_max) ON true
  JOIN custom_pricing_unit u ON u.key = v.key;

-- One customer for each subscription, and of the same name.
CREATE TEMPORARY TABLE given (
  n integer, name text, status text, starts timestamptz, ends timestamptz, trial timestamptz,
  cadence text, period_end timestamptz, total numeric, base integer, credits_until timestamptz,
  seats_until timestamptz);
INSERT INTO given VALUES
  (1, 'monthly', 'active', '2040-01-15 05:00Z', null, null, 'monthly', '2040-02-15 05:00Z',
   49, 41, '2040-02-15 05:00Z', '2040-02-15 05:00Z'),
  (2, 'annual', 'active', '2040-01-15 05:00Z', null, null, 'annually', '2041-01-15 05:00Z',
   490, 42, '2040-02-15 05:00Z', '2041-01-15 05:00Z'),
  (3, 'once', 'active', '2040-01-15 05:00Z', null, null, 'oneTime', '9999-12-31Z',
   900, 43, '2040-02-15 05:00Z', '2041-01-15 05:00Z'),
  (4, 'ended', 'ended', '2039-12-01 05:00Z', '2040-01-01 05:00Z', null, 'monthly',
   '2040-01-01 05:00Z', 49, 41, '2040-01-01 05:00Z', '2040-01-01 05:00Z'),
  (5, 'trial', 'active', '2040-01-15 05:00Z', null, '2040-02-29 05:00Z', 'monthly',
   '2040-02-29 05:00Z', 0, null, '2040-02-15 05:00Z', '2040-02-29 05:00Z'),
  (6, 'pending', 'pendingActivation', '2040-02-20 05:00Z', null, null, 'monthly', null, null, null,
   null, null);

CREATE FUNCTION pg_temp.id_of(kind integer, n integer) RETURNS uuid LANGUAGE sql AS
$$ SELECT ('01900000-0000-7000-8000-000000000' || kind || n)::uuid $$;

INSERT INTO customer (id, merchant_id, external_id, had_trial, created_at, updated_at)
SELECT pg_temp.id_of(10, n), m.id, g.name, g.trial IS NOT NULL, g.starts, g.starts
  FROM merchant m, given g;

INSERT INTO subscription (id, merchant_id, customer_id, plan_id, status, start_date, end_date,
    trial_end, billing_cadence, currency, net_terms, allow_customer_changes, auto_charge_invoice,
    auto_sync_invoice, auto_send_invoice, is_trial, created_at, updated_at)
SELECT pg_temp.id_of(11, n), p.merchant_id, pg_temp.id_of(10, n), p.id, g.status, g.starts, g.ends,
       g.trial, g.cadence, 'USD', 'net30', true, false, false, false, g.trial IS NOT NULL,
       least(g.starts, '2040-02-01Z'), least(g.starts, '2040-02-01Z')
  FROM plan p, given g;

INSERT INTO subscription_period (merchant_id, subscription_id, period_index, customer_id, plan_id,
    period_start, period_end, is_trial, opened_at, ready_until)
SELECT s.merchant_id, s.id, 0, s.customer_id, s.plan_id, g.starts, g.period_end,
       g.trial IS NOT NULL, '2025-01-02Z', g.period_end
  FROM given g JOIN subscription s ON s.id = pg_temp.id_of(11, n)
 WHERE g.period_end IS NOT NULL;

INSERT INTO billable_access (id, merchant_id, customer_id, subscription_id, billable_id, access,
    invalidated, start_date, end_date, current_usage, created_at, updated_at)
SELECT gen_random_uuid(), s.merchant_id, s.customer_id, s.id, b.id, s.status = 'active', false,
       s.start_date, s.end_date, CASE WHEN g.n IN (1, 4) THEN 30 ELSE 0 END, g.starts, g.starts
  FROM given g JOIN subscription s ON s.id = pg_temp.id_of(11, n), billable b
 WHERE g.period_end IS NOT NULL;

INSERT INTO invoice (id, merchant_id, customer_id, subscription_id, boundary_index, status,
    vanity_id, currency, total, due_date, issue_date, pending_date, net_terms, auto_sync_invoice,
    auto_send_invoice, auto_charge_invoice, created_at, updated_at)
SELECT pg_temp.id_of(12, n), s.merchant_id, s.customer_id, s.id, 0,
       CASE WHEN g.total = 0 THEN 'paid' ELSE 'test' END, g.n, 'USD', g.total,
       g.starts + interval '30 days', g.starts, g.starts, 'net30', false, false, false, g.starts,
       g.starts
  FROM given g JOIN subscription s ON s.id = pg_temp.id_of(11, n)
 WHERE g.period_end IS NOT NULL;

INSERT INTO invoice_line_item (id, merchant_id, invoice_id, position, price_id, description,
    quantity, unit_price, exact_amount, amount, start_date, end_date, created_at, updated_at)
SELECT gen_random_uuid(), i.merchant_id, i.id, 0,
       ('01900000-0000-7000-8000-0000000000' || g.base)::uuid, 'Pro', 1, g.total, g.total, g.total,
       g.starts, g.period_end, g.starts, g.starts
  FROM given g JOIN invoice i ON i.id = pg_temp.id_of(12, n)
 WHERE g.base IS NOT NULL;

INSERT INTO allocation_block (id, merchant_id, customer_id, custom_pricing_unit_id,
    subscription_id, period_index, invoice_id, amount, remaining, effective_at, expires_at,
    created_at)
SELECT gen_random_uuid(), i.merchant_id, i.customer_id, u.id, i.subscription_id, 0, i.id,
       CASE u.key WHEN 'credits' THEN 100 ELSE 7 END, CASE u.key WHEN 'credits' THEN 100 ELSE 7 END,
       g.starts, CASE u.key WHEN 'credits' THEN g.credits_until ELSE g.seats_until END, g.starts
  FROM given g JOIN invoice i ON i.id = pg_temp.id_of(12, n), custom_pricing_unit u;
INSERT INTO allocation_block (id, merchant_id, customer_id, custom_pricing_unit_id, amount,
    remaining, effective_at, created_at)
SELECT gen_random_uuid(), c.merchant_id, c.id, u.id, 5, 5, '2040-02-01Z', '2040-02-01Z'
  FROM customer c, custom_pricing_unit u WHERE c.external_id = 'monthly' AND u.key = 'credits';
INSERT INTO credit_transaction (id, merchant_id, customer_id, allocation_block_id, type, amount,
    operation_id, created_at)
SELECT gen_random_uuid(), merchant_id, customer_id, id,
       CASE WHEN subscription_id IS NULL THEN 'manualAllocation' ELSE 'planAllocation' END, amount,
       gen_random_uuid(), created_at
  FROM allocation_block;

-- The open monthly subscription and the ended one have used 30 calls each.
INSERT INTO event (merchant_id, key, batch, customer_id, payload_hash, generated_at, name, data)
SELECT s.merchant_id, pg_temp.id_of(13, n), 1, s.customer_id, n, g.starts + interval '1 day',
       'call', '{"count":30}'
  FROM given g JOIN subscription s ON s.id = pg_temp.id_of(11, n) WHERE n IN (1, 4);
INSERT INTO usage_counter (merchant_id, subscription_id, period_index, billable_id, events, sum,
    min, max, latest, latest_at, latest_key, uniques, updated_at)
SELECT s.merchant_id, s.id, 0, b.id, 1, 30, 30, 30, 30, g.starts + interval '1 day',
       pg_temp.id_of(13, n), 0, g.starts + interval '1 day'
  FROM given g JOIN subscription s ON s.id = pg_temp.id_of(11, n), billable b WHERE n IN (1, 4);
