-- Every table carries merchant_id and every query filters by it. Ids are version 7 UUIDs, written
-- outside with a prefix (cus_…). Money and quantities are numeric without a fixed scale.
-- Instants are timestamptz with milliseconds; periods are half-open [start, end).

CREATE TABLE merchant (
  id              uuid        NOT NULL PRIMARY KEY,
  name            text        NOT NULL,
  environment     text        NOT NULL CHECK (environment IN ('live', 'test')),
  timezone        text        NOT NULL,
  clock_now       timestamptz,           -- the frozen clock of a test merchant once it was set
  default_plan_id uuid,
  created_at      timestamptz NOT NULL,
  updated_at      timestamptz NOT NULL,
  CHECK (clock_now IS NULL OR environment = 'test')
);

CREATE TABLE api_key (
  id          uuid        NOT NULL PRIMARY KEY,
  merchant_id uuid        NOT NULL REFERENCES merchant,
  type        text        NOT NULL CHECK (type IN ('secret', 'publishable')),
  name        text,
  key_hash    bytea       NOT NULL,
  created_at  timestamptz NOT NULL,
  revoked_at  timestamptz,
  CONSTRAINT api_key_hash_key UNIQUE (key_hash)
);
CREATE INDEX api_key_merchant ON api_key (merchant_id, created_at);

-- Catalogue -------------------------------------------------------------------------------------

CREATE TABLE custom_pricing_unit (
  id                    uuid        NOT NULL PRIMARY KEY,
  merchant_id           uuid        NOT NULL REFERENCES merchant,
  key                   text        NOT NULL,
  display_name          text        NOT NULL,
  display_name_singular text        NOT NULL,
  short_name            text        NOT NULL,
  status                text        NOT NULL CHECK (status IN ('available', 'archived')),
  created_at            timestamptz NOT NULL,
  updated_at            timestamptz NOT NULL,
  UNIQUE (merchant_id, key)
);

CREATE TABLE billable (
  id                  uuid        NOT NULL PRIMARY KEY,
  merchant_id         uuid        NOT NULL REFERENCES merchant,
  slug                text        NOT NULL,
  name                text        NOT NULL,
  description         text        NOT NULL,
  status              text        NOT NULL CHECK (status IN ('available', 'archived')),
  external_flag_id    text        NOT NULL,
  included_label      text        NOT NULL,
  single_unit_label   text        NOT NULL,
  multiple_unit_label text        NOT NULL,
  is_private          boolean     NOT NULL,
  show_on_invoice     boolean     NOT NULL,
  hidden              boolean     NOT NULL,
  display_order       integer     NOT NULL,
  event_query_rules   json,                -- null: nothing is metered for it
  created_at          timestamptz NOT NULL,
  updated_at          timestamptz NOT NULL,
  UNIQUE (merchant_id, slug)
);

CREATE TABLE plan (
  id                         uuid        NOT NULL PRIMARY KEY,
  merchant_id                uuid        NOT NULL REFERENCES merchant,
  external_id                text        NOT NULL,
  cross_environment_id       text        NOT NULL,
  name                       text        NOT NULL,
  description                text        NOT NULL,
  currency                   text        NOT NULL,
  net_terms                  text        NOT NULL,
  is_private                 boolean     NOT NULL,
  purchasable                boolean     NOT NULL,
  request_pricing_text       text        NOT NULL,
  request_pricing_url        text        NOT NULL,
  status                     text        NOT NULL CHECK (status IN ('available', 'archived')),
  trial_days                 integer     NOT NULL CHECK (trial_days >= 0),
  charge_usage_during_trial  boolean     NOT NULL,
  created_at                 timestamptz NOT NULL,
  updated_at                 timestamptz NOT NULL,
  UNIQUE (merchant_id, external_id)
);
ALTER TABLE merchant ADD FOREIGN KEY (default_plan_id) REFERENCES plan;

-- A price never changes: a new row replaces it, and the old one ends at active_until. A period is
-- rated with the prices that were active when it opened.
CREATE TABLE price (
  id                       uuid        NOT NULL PRIMARY KEY,
  merchant_id              uuid        NOT NULL REFERENCES merchant,
  plan_id                  uuid        NOT NULL REFERENCES plan,
  is_base                  boolean     NOT NULL,  -- the plan's fixed price of one cadence
  name                     text        NOT NULL,
  billing_cadence          text,                 -- null: whatever the subscription's cadence is
  billing_mode             text        NOT NULL CHECK (billing_mode IN ('advance', 'arrears')),
  block_overage            boolean     NOT NULL,
  entity_type              text        NOT NULL,
  price_type               text        NOT NULL,
  rules                    json        NOT NULL,
  uses_custom_pricing_unit boolean     NOT NULL,
  billable_id              uuid        REFERENCES billable,
  limit_quantity           numeric,
  max_usage                numeric,
  custom_pricing_unit_id   uuid        REFERENCES custom_pricing_unit,
  position                 integer     NOT NULL,
  active_from              timestamptz NOT NULL,
  active_until             timestamptz,
  created_at               timestamptz NOT NULL,
  CHECK (uses_custom_pricing_unit = (custom_pricing_unit_id IS NOT NULL)),
  CHECK (is_base = (billable_id IS NULL))
);
CREATE INDEX price_plan ON price (merchant_id, plan_id);

CREATE TABLE plan_allocation (
  id                     uuid        NOT NULL PRIMARY KEY,
  merchant_id            uuid        NOT NULL REFERENCES merchant,
  plan_id                uuid        NOT NULL REFERENCES plan,
  custom_pricing_unit_id uuid        NOT NULL REFERENCES custom_pricing_unit,
  amount                 numeric     NOT NULL CHECK (amount > 0),
  billing_cadence        text        NOT NULL,
  rollover_max           numeric,               -- units that may live one more period
  position               integer     NOT NULL,
  active_from            timestamptz NOT NULL,
  active_until           timestamptz,
  created_at             timestamptz NOT NULL
);
CREATE INDEX plan_allocation_plan ON plan_allocation (merchant_id, plan_id);

-- Customers -------------------------------------------------------------------------------------

CREATE TABLE customer (
  id                uuid        NOT NULL PRIMARY KEY,
  merchant_id       uuid        NOT NULL REFERENCES merchant,
  external_id       text        COLLATE "C" NOT NULL,
  name              text        COLLATE "C",
  email             text        COLLATE "C",
  billing_address1  text,
  billing_address2  text,
  billing_city      text,
  billing_country   text,
  billing_state     text,
  billing_zip_code  text,
  shipping_address1 text,
  shipping_address2 text,
  shipping_city     text,
  shipping_country  text,
  shipping_state    text,
  shipping_zip_code text,
  ledger_a_id       text        COLLATE "C",
  card_gateway_id   text        COLLATE "C",
  ledger_b_id       text        COLLATE "C",
  had_trial         boolean     NOT NULL,
  created_at        timestamptz NOT NULL,
  updated_at        timestamptz NOT NULL,
  CONSTRAINT customer_external_id_key UNIQUE (merchant_id, external_id)
);
CREATE INDEX customer_by_id ON customer (merchant_id, id);
CREATE INDEX customer_created ON customer (merchant_id, created_at, id);
CREATE INDEX customer_updated ON customer (merchant_id, updated_at, id);
CREATE INDEX customer_email ON customer (merchant_id, email, id);
CREATE INDEX customer_name ON customer (merchant_id, name, id);
CREATE INDEX customer_ledger_a ON customer (merchant_id, ledger_a_id, id);
CREATE INDEX customer_card_gateway ON customer (merchant_id, card_gateway_id, id);

CREATE TABLE customer_private_plan (
  merchant_id uuid        NOT NULL REFERENCES merchant,
  customer_id uuid        NOT NULL REFERENCES customer,
  plan_id     uuid        NOT NULL REFERENCES plan,
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (customer_id, plan_id)
);

-- Subscriptions ---------------------------------------------------------------------------------

CREATE TABLE subscription (
  id                            uuid        NOT NULL PRIMARY KEY,
  merchant_id                   uuid        NOT NULL REFERENCES merchant,
  customer_id                   uuid        NOT NULL REFERENCES customer,
  plan_id                       uuid        NOT NULL REFERENCES plan,
  status                        text        NOT NULL,
  start_date                    timestamptz NOT NULL,
  end_date                      timestamptz,
  trial_end                     timestamptz,          -- the first period is the trial; later ones count from here
  billing_cadence               text        NOT NULL,
  currency                      text        NOT NULL,
  net_terms                     text,
  payment_gateway               text,
  allow_customer_changes        boolean     NOT NULL,
  auto_charge_invoice           boolean     NOT NULL,
  auto_sync_invoice             boolean     NOT NULL,
  auto_send_invoice             boolean     NOT NULL,
  is_trial                      boolean     NOT NULL,
  charge_usage_during_trial     boolean,
  invoice_generation_start_date timestamptz,
  created_at                    timestamptz NOT NULL,
  updated_at                    timestamptz NOT NULL,
  CHECK (end_date IS NULL OR end_date > start_date)
);
CREATE INDEX subscription_by_id ON subscription (merchant_id, id);
CREATE INDEX subscription_customer ON subscription (merchant_id, customer_id, created_at, id);
CREATE INDEX subscription_created ON subscription (merchant_id, created_at, id);
CREATE INDEX subscription_updated ON subscription (merchant_id, updated_at, id);
CREATE INDEX subscription_start ON subscription (merchant_id, start_date, id);
CREATE INDEX subscription_end ON subscription (merchant_id, end_date, id);
CREATE INDEX subscription_plan ON subscription (merchant_id, plan_id, created_at, id);
CREATE INDEX subscription_starting ON subscription (merchant_id, start_date)
  WHERE status = 'pendingActivation';
CREATE INDEX subscription_ending ON subscription (merchant_id, end_date)
  WHERE status = 'active' AND end_date IS NOT NULL;
CREATE INDEX subscription_status ON subscription (merchant_id, status, created_at, id);

-- Events before ready_until are counted by the fold when it meets them. Those from there to the
-- period's end may have been folded before the period (or that part of it) existed: a backfill
-- counts them and moves ready_until to the end, so that no event is counted twice or never.
CREATE TABLE subscription_period (
  merchant_id     uuid        NOT NULL REFERENCES merchant,
  subscription_id uuid        NOT NULL REFERENCES subscription,
  period_index    integer     NOT NULL CHECK (period_index >= 0),
  customer_id     uuid        NOT NULL REFERENCES customer,
  plan_id         uuid        NOT NULL REFERENCES plan,
  period_start    timestamptz NOT NULL,
  period_end      timestamptz NOT NULL,
  is_trial        boolean     NOT NULL,
  opened_at       timestamptz NOT NULL,  -- the prices active at this instant rate the period
  ready_until     timestamptz NOT NULL,
  PRIMARY KEY (subscription_id, period_index),
  CHECK (period_end > period_start),
  CHECK (ready_until >= period_start AND ready_until <= period_end)
);
CREATE INDEX subscription_period_customer ON subscription_period (customer_id, period_start);
CREATE INDEX subscription_period_not_ready ON subscription_period (merchant_id) WHERE ready_until < period_end;

-- Invoices --------------------------------------------------------------------------------------

-- The last vanity id of a merchant; its row is the lock that keeps the numbers gapless.
CREATE TABLE invoice_number (
  merchant_id uuid   NOT NULL PRIMARY KEY REFERENCES merchant,
  last        bigint NOT NULL
);

CREATE TABLE invoice (
  id                  uuid        NOT NULL PRIMARY KEY,
  merchant_id         uuid        NOT NULL REFERENCES merchant,
  customer_id         uuid        NOT NULL REFERENCES customer,
  subscription_id     uuid        NOT NULL REFERENCES subscription,
  boundary_index      integer     NOT NULL CHECK (boundary_index >= 0),
  external_id         text,
  status              text        NOT NULL,
  vanity_id           bigint      NOT NULL,
  currency            text        NOT NULL,
  total               numeric     NOT NULL,
  due_date            timestamptz,
  issue_date          timestamptz,
  pending_date        timestamptz,
  net_terms           text        NOT NULL,
  auto_sync_invoice   boolean     NOT NULL,
  auto_send_invoice   boolean     NOT NULL,
  auto_charge_invoice boolean     NOT NULL,
  payment_gateway     text,
  created_at          timestamptz NOT NULL,
  updated_at          timestamptz NOT NULL,
  UNIQUE (subscription_id, boundary_index),
  UNIQUE (merchant_id, vanity_id)
);
CREATE INDEX invoice_by_id ON invoice (merchant_id, id);
CREATE INDEX invoice_created ON invoice (merchant_id, created_at, id);
CREATE INDEX invoice_customer ON invoice (merchant_id, customer_id, created_at, id);
CREATE INDEX invoice_updated ON invoice (merchant_id, updated_at, id);
CREATE INDEX invoice_due ON invoice (merchant_id, due_date, id);
CREATE INDEX invoice_issued ON invoice (merchant_id, issue_date, id);
CREATE INDEX invoice_subscription ON invoice (merchant_id, subscription_id, created_at, id);
CREATE INDEX invoice_status ON invoice (merchant_id, status, created_at, id);

CREATE TABLE invoice_line_item (
  id           uuid        NOT NULL PRIMARY KEY,
  merchant_id  uuid        NOT NULL REFERENCES merchant,
  invoice_id   uuid        NOT NULL REFERENCES invoice,
  position     integer     NOT NULL,
  price_id     uuid        NOT NULL REFERENCES price,
  description  text        NOT NULL,
  quantity     numeric     NOT NULL,
  unit_price   numeric     NOT NULL,
  exact_amount numeric     NOT NULL,   -- before rounding
  amount       numeric     NOT NULL,   -- rounded half-up to the cent
  start_date   timestamptz NOT NULL,
  end_date     timestamptz NOT NULL,
  created_at   timestamptz NOT NULL,
  updated_at   timestamptz NOT NULL
);
CREATE INDEX invoice_line_item_invoice ON invoice_line_item (invoice_id, position);

-- Prepaid units ---------------------------------------------------------------------------------

CREATE TABLE allocation_block (
  id                     uuid        NOT NULL PRIMARY KEY,
  merchant_id            uuid        NOT NULL REFERENCES merchant,
  customer_id            uuid        NOT NULL REFERENCES customer,
  custom_pricing_unit_id uuid        NOT NULL REFERENCES custom_pricing_unit,
  subscription_id        uuid        REFERENCES subscription,
  period_index           integer,
  invoice_id             uuid        REFERENCES invoice,
  amount                 numeric     NOT NULL CHECK (amount > 0),
  remaining              numeric     NOT NULL CHECK (remaining >= 0 AND remaining <= amount),
  effective_at           timestamptz NOT NULL,
  expires_at             timestamptz,
  created_at             timestamptz NOT NULL,
  CONSTRAINT allocation_block_once UNIQUE (subscription_id, custom_pricing_unit_id, effective_at)
);
CREATE INDEX allocation_block_customer
  ON allocation_block (customer_id, custom_pricing_unit_id, expires_at);

-- Append-only and signed: the sum of a block's rows is what remains of it.
CREATE TABLE credit_transaction (
  id                  uuid        NOT NULL PRIMARY KEY,
  merchant_id         uuid        NOT NULL REFERENCES merchant,
  customer_id         uuid        NOT NULL REFERENCES customer,
  allocation_block_id uuid        NOT NULL REFERENCES allocation_block,
  type                text        NOT NULL,
  amount              numeric     NOT NULL,
  billable_id         uuid        REFERENCES billable,
  event_key           uuid,
  operation_id        uuid        NOT NULL,
  created_at          timestamptz NOT NULL,
  CONSTRAINT credit_transaction_once UNIQUE (operation_id, allocation_block_id)
);
CREATE INDEX credit_transaction_customer ON credit_transaction (customer_id, created_at, id);
CREATE INDEX credit_transaction_block ON credit_transaction (allocation_block_id);

-- Usage -----------------------------------------------------------------------------------------

-- key: the idempotency key as a UUID, or 128 bits of its SHA-256. First write wins, for ever.
CREATE TABLE event (
  merchant_id  uuid        NOT NULL,
  key          uuid        NOT NULL,
  batch        bigint      NOT NULL,
  customer_id  uuid,                  -- null when customer_ref is no customer id at all
  payload_hash bigint      NOT NULL,  -- tells a repetition from a different event under the same key
  generated_at timestamptz NOT NULL,
  customer_ref text,                  -- the id as sent, kept only where customer_id is null
  name         text        NOT NULL,
  user_id      text,
  data         text,                  -- JSON as sent
  PRIMARY KEY (merchant_id, key)
) PARTITION BY HASH (key);
CREATE TABLE event_0 PARTITION OF event FOR VALUES WITH (MODULUS 8, REMAINDER 0);
CREATE TABLE event_1 PARTITION OF event FOR VALUES WITH (MODULUS 8, REMAINDER 1);
CREATE TABLE event_2 PARTITION OF event FOR VALUES WITH (MODULUS 8, REMAINDER 2);
CREATE TABLE event_3 PARTITION OF event FOR VALUES WITH (MODULUS 8, REMAINDER 3);
CREATE TABLE event_4 PARTITION OF event FOR VALUES WITH (MODULUS 8, REMAINDER 4);
CREATE TABLE event_5 PARTITION OF event FOR VALUES WITH (MODULUS 8, REMAINDER 5);
CREATE TABLE event_6 PARTITION OF event FOR VALUES WITH (MODULUS 8, REMAINDER 6);
CREATE TABLE event_7 PARTITION OF event FOR VALUES WITH (MODULUS 8, REMAINDER 7);
CREATE INDEX event_batch_number ON event (batch);
CREATE INDEX event_customer_time ON event (customer_id, generated_at);

-- Committed events that wait for the fold: one row per flush and merchant, written with them.
CREATE SEQUENCE event_batch_seq;
CREATE TABLE event_batch (
  batch       bigint      NOT NULL,
  merchant_id uuid        NOT NULL,
  events      integer     NOT NULL,
  bytes       bigint      NOT NULL,  -- what folding them takes of memory, roughly
  stored_at   timestamptz NOT NULL,
  PRIMARY KEY (batch, merchant_id)
) WITH (autovacuum_vacuum_scale_factor = 0.01, fillfactor = 70);

-- What the folded events of one period and billable amount to, under every calculation.
CREATE TABLE usage_counter (
  merchant_id     uuid        NOT NULL,
  subscription_id uuid        NOT NULL,
  period_index    integer     NOT NULL,
  billable_id     uuid        NOT NULL,
  events          bigint      NOT NULL,
  sum             numeric     NOT NULL,
  min             numeric,
  max             numeric,
  latest          numeric,
  latest_at       timestamptz,
  latest_key      uuid,
  uniques         bigint      NOT NULL,
  updated_at      timestamptz NOT NULL,
  PRIMARY KEY (subscription_id, period_index, billable_id),
  FOREIGN KEY (subscription_id, period_index) REFERENCES subscription_period
) WITH (fillfactor = 70);

CREATE TABLE usage_unique (
  merchant_id     uuid    NOT NULL,
  subscription_id uuid    NOT NULL,
  period_index    integer NOT NULL,
  billable_id     uuid    NOT NULL,
  value_hash      uuid    NOT NULL,  -- 128 bits of the SHA-256 of the value's string form
  PRIMARY KEY (subscription_id, period_index, billable_id, value_hash)
);

-- What a price in custom pricing units has asked for in a period, and how much blocks covered.
CREATE TABLE credit_usage (
  merchant_id     uuid    NOT NULL,
  subscription_id uuid    NOT NULL,
  period_index    integer NOT NULL,
  price_id        uuid    NOT NULL REFERENCES price,
  required        numeric NOT NULL,
  drawn           numeric NOT NULL CHECK (drawn >= 0 AND drawn <= required),
  PRIMARY KEY (subscription_id, period_index, price_id),
  FOREIGN KEY (subscription_id, period_index) REFERENCES subscription_period
);

-- From which blocks a price's units were drawn, so that they can be given back to these.
CREATE TABLE credit_draw (
  merchant_id         uuid        NOT NULL,
  subscription_id     uuid        NOT NULL,
  period_index        integer     NOT NULL,
  price_id            uuid        NOT NULL,
  allocation_block_id uuid        NOT NULL REFERENCES allocation_block,
  drawn               numeric     NOT NULL CHECK (drawn >= 0),
  drawn_at            timestamptz NOT NULL,  -- time of the last event that drew
  PRIMARY KEY (subscription_id, period_index, price_id, allocation_block_id),
  FOREIGN KEY (subscription_id, period_index, price_id) REFERENCES credit_usage
);

CREATE TABLE billable_access (
  id              uuid        NOT NULL PRIMARY KEY,
  merchant_id     uuid        NOT NULL REFERENCES merchant,
  customer_id     uuid        NOT NULL REFERENCES customer,
  subscription_id uuid        NOT NULL REFERENCES subscription,
  billable_id     uuid        NOT NULL REFERENCES billable,
  access          boolean     NOT NULL,
  invalidated     boolean     NOT NULL,
  start_date      timestamptz NOT NULL,
  end_date        timestamptz,
  current_usage   numeric     NOT NULL,
  created_at      timestamptz NOT NULL,
  updated_at      timestamptz NOT NULL,
  UNIQUE (subscription_id, billable_id)
);
CREATE INDEX billable_access_customer ON billable_access (customer_id);

-- Gateways --------------------------------------------------------------------------------------

CREATE TABLE gateway_connection (
  merchant_id uuid        NOT NULL REFERENCES merchant,
  gateway     text        NOT NULL CHECK (gateway IN ('CardGateway', 'LedgerA', 'LedgerB')),
  kind        text        NOT NULL CHECK (kind IN ('sandbox', 'http')),
  base_url    text,
  secret      bytea,                  -- AES-GCM: 12 bytes of nonce, then ciphertext and tag
  created_at  timestamptz NOT NULL,
  updated_at  timestamptz NOT NULL,
  PRIMARY KEY (merchant_id, gateway),
  CHECK (kind = 'sandbox' OR (base_url IS NOT NULL AND secret IS NOT NULL))
);

-- The sandbox gateway's own memory.
CREATE TABLE sandbox_checkout_session (
  id               text        NOT NULL,
  merchant_id      uuid        NOT NULL REFERENCES merchant,
  customer         text        NOT NULL,
  setup_intent     text        NOT NULL,
  success_url      text        NOT NULL,
  metadata         json        NOT NULL,
  status           text        NOT NULL CHECK (status IN ('open', 'complete', 'expired')),
  created_at       timestamptz NOT NULL,
  expires_at       timestamptz NOT NULL,
  PRIMARY KEY (merchant_id, id)
);
