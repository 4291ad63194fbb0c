-- The recurring run: what is due when, invoices on their way to be final, and their states.

-- Subscriptions ---------------------------------------------------------------------------------

-- due_at: when the clockwork must next act on it (its start, an allocation, its period's end); null
-- for never. period_index: the period opened last; null before the first. A parked subscription is
-- left alone until an operator resumes it.
ALTER TABLE subscription
  ADD due_at        timestamptz,
  ADD period_index  integer,
  ADD parked_at     timestamptz,
  ADD parked_reason text;

-- Until now only first periods were opened. Other cadences are looked at at once, for the units that
-- are allocated within their periods; monthly ones at their period's end.
UPDATE subscription s
   SET period_index = p.period_index,
       due_at = CASE WHEN s.status <> 'active' THEN NULL
                     WHEN s.billing_cadence <> 'monthly'
                     THEN p.period_start + interval '1 ms'
                     ELSE p.period_end END
  FROM (SELECT DISTINCT ON (subscription_id) subscription_id, period_index, period_start, period_end
          FROM subscription_period ORDER BY subscription_id, period_index DESC) p
 WHERE p.subscription_id = s.id AND s.status IN ('active', 'ended', 'deleted');
UPDATE subscription SET due_at = start_date WHERE status = 'pendingActivation';

DROP INDEX subscription_starting;
DROP INDEX subscription_ending;
CREATE INDEX subscription_due ON subscription (merchant_id, due_at, id)
  WHERE due_at IS NOT NULL AND parked_at IS NULL;
CREATE INDEX subscription_parked ON subscription (merchant_id, parked_at) WHERE parked_at IS NOT NULL;

-- Late usage ------------------------------------------------------------------------------------

-- Events that were counted in a period after the lines for its usage had been written.
-- boundary_index: of the invoice whose lines include them; null while none does.
CREATE TABLE late_event (
  merchant_id     uuid    NOT NULL,
  subscription_id uuid    NOT NULL,
  period_index    integer NOT NULL,
  key             uuid    NOT NULL,
  boundary_index  integer,
  PRIMARY KEY (subscription_id, period_index, key)
);

-- Closed periods whose cost may differ from what was billed for them: for their usage (late events,
-- a void invoice) or for their fixed prices (a renewal that gave back a part).
CREATE TABLE rebill (
  merchant_id     uuid        NOT NULL,
  subscription_id uuid        NOT NULL,
  period_index    integer     NOT NULL,
  usage           boolean     NOT NULL,
  fixed           boolean     NOT NULL,
  since           timestamptz NOT NULL,  -- by the merchant's clock
  PRIMARY KEY (subscription_id, period_index)
);
CREATE INDEX rebill_since ON rebill (merchant_id, since);

-- The usage of subscriptions that have ended before usage was billed.
INSERT INTO rebill (merchant_id, subscription_id, period_index, usage, fixed, since)
SELECT DISTINCT c.merchant_id, c.subscription_id, c.period_index, true, false, s.end_date
  FROM usage_counter c
  JOIN subscription s ON s.merchant_id = c.merchant_id AND s.id = c.subscription_id
 WHERE s.status IN ('ended', 'deleted') AND s.end_date IS NOT NULL;

-- Invoices --------------------------------------------------------------------------------------

-- finalise_at: by the merchant's clock; null once it is final. paused_reason: why it is paused.
ALTER TABLE invoice
  ADD boundary_at   timestamptz,
  ADD finalise_at   timestamptz,
  ADD paused_reason text;
UPDATE invoice SET boundary_at = pending_date;
ALTER TABLE invoice ALTER boundary_at SET NOT NULL;
CREATE INDEX invoice_finalise ON invoice (merchant_id, finalise_at, boundary_index, id)
  WHERE status = 'pending';
CREATE INDEX invoice_unpaid ON invoice (merchant_id, due_date) WHERE status = 'issued';

-- kind: advance and arrears of the boundary's own periods, or adjustment of an earlier one.
ALTER TABLE invoice_line_item
  ADD kind         text    NOT NULL DEFAULT 'advance'
    CHECK (kind IN ('advance', 'arrears', 'adjustment')),
  ADD period_index integer NOT NULL DEFAULT 0;
ALTER TABLE invoice_line_item ALTER kind DROP DEFAULT, ALTER period_index DROP DEFAULT;

-- Every change of a state: who, when, from, to, why. Append-only.
CREATE TABLE transition (
  id           uuid        NOT NULL PRIMARY KEY,
  merchant_id  uuid        NOT NULL,
  subject      text        NOT NULL CHECK (subject IN ('invoice', 'subscription')),
  subject_id   uuid        NOT NULL,
  from_status  text        NOT NULL,
  to_status    text        NOT NULL,
  actor        text        NOT NULL,  -- billing, gateway, operator or merchant
  reason       text        NOT NULL,
  request_id   text,
  at           timestamptz NOT NULL,  -- by the merchant's clock
  recorded_at  timestamptz NOT NULL   -- by the system's
);
CREATE INDEX transition_subject ON transition (subject_id, id);

-- Prepaid units ---------------------------------------------------------------------------------

-- rollover_max: how many units left at its end live one more period.
ALTER TABLE allocation_block
  ADD origin       text NOT NULL DEFAULT 'plan' CHECK (origin IN ('plan', 'manual', 'rollover')),
  ADD rollover_max numeric;
UPDATE allocation_block SET origin = 'manual' WHERE subscription_id IS NULL;
ALTER TABLE allocation_block ALTER origin DROP DEFAULT;
ALTER TABLE allocation_block DROP CONSTRAINT allocation_block_once;
ALTER TABLE allocation_block ADD CONSTRAINT allocation_block_once
  UNIQUE (subscription_id, custom_pricing_unit_id, effective_at, origin);
CREATE INDEX allocation_block_expiring ON allocation_block (merchant_id, expires_at)
  WHERE remaining > 0 AND expires_at IS NOT NULL;

-- For what usage has drawn from a block, whichever period it is of.
CREATE INDEX credit_draw_block ON credit_draw (allocation_block_id);

-- released: units that a void invoice gave back, to be drawn again for its next invoice.
ALTER TABLE credit_usage ADD released numeric NOT NULL DEFAULT 0;

-- What is metered -------------------------------------------------------------------------------

-- A billable's rules never change: a new version replaces them, by the system's time. A period is
-- counted by the version that was in force when it opened. rules: null when nothing is metered.
CREATE TABLE billable_rules (
  billable_id  uuid        NOT NULL REFERENCES billable,
  merchant_id  uuid        NOT NULL REFERENCES merchant,
  rules        json,
  active_from  timestamptz NOT NULL,
  active_until timestamptz,
  PRIMARY KEY (billable_id, active_from),
  CHECK (active_until >= active_from)
);
CREATE UNIQUE INDEX billable_rules_current ON billable_rules (billable_id)
  WHERE active_until IS NULL;

INSERT INTO billable_rules (billable_id, merchant_id, rules, active_from)
SELECT id, merchant_id, event_query_rules, created_at FROM billable;
ALTER TABLE billable DROP COLUMN event_query_rules;

-- Gateways --------------------------------------------------------------------------------------

-- What is to be done with an invoice at its gateway. The key stays the same until the gateway has
-- given its verdict, however often it is asked, and so stays the row of an action that was given
-- up: next_attempt_at is null then. attempts also tells a late answer from the present attempt's.
CREATE TABLE outbox (
  id              uuid        NOT NULL PRIMARY KEY,
  merchant_id     uuid        NOT NULL REFERENCES merchant,
  invoice_id      uuid        NOT NULL REFERENCES invoice,
  action          text        NOT NULL CHECK (action IN ('sync', 'collect', 'send')),
  idempotency_key text        NOT NULL,
  attempts        integer     NOT NULL,
  next_attempt_at timestamptz,           -- by the system's clock, as all times here
  leased_until    timestamptz,           -- while a worker is on it
  last_error      text,
  created_at      timestamptz NOT NULL,
  UNIQUE (invoice_id, action)
) WITH (autovacuum_vacuum_scale_factor = 0.01, fillfactor = 70);
CREATE INDEX outbox_due ON outbox (merchant_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;

-- The sandbox gateway's own memory of invoices, of what it was asked under which key, and of how a
-- test wants it to behave.
CREATE TABLE sandbox_invoice (
  merchant_id uuid        NOT NULL REFERENCES merchant,
  gateway     text        NOT NULL,
  external_id text        NOT NULL,
  invoice_id  uuid        NOT NULL,
  status      text        NOT NULL CHECK (status IN ('open', 'actionRequired', 'paid', 'deleted')),
  total       numeric     NOT NULL,
  charges     integer     NOT NULL,
  sends       integer     NOT NULL,
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (merchant_id, gateway, external_id)
);
CREATE INDEX sandbox_invoice_invoice ON sandbox_invoice (merchant_id, invoice_id);

CREATE TABLE sandbox_request (
  merchant_id     uuid        NOT NULL REFERENCES merchant,
  gateway         text        NOT NULL,
  idempotency_key text        NOT NULL,
  external_id     text        NOT NULL,
  outcome         text        NOT NULL,
  received        integer     NOT NULL,  -- how often
  created_at      timestamptz NOT NULL,
  PRIMARY KEY (merchant_id, gateway, idempotency_key)
);

CREATE TABLE sandbox_behavior (
  merchant_id uuid NOT NULL REFERENCES merchant,
  gateway     text NOT NULL,
  sync        text NOT NULL,
  collect     text NOT NULL,
  send        text NOT NULL,
  PRIMARY KEY (merchant_id, gateway)
);
