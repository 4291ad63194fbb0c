-- Once, in one transaction, on tables that the migrations have made, empty or not: what grows with the
-- events goes to the nodes, the catalogue to all of them, and the rest stays on the coordinator.
-- db/Distribution says the same table by table, and checks it at each start.

SET LOCAL citus.multi_shard_modify_mode TO 'sequential';
SET LOCAL client_min_messages TO warning;

-- The catalogue -----------------------------------------------------------------------------------

-- A key to or from a table of the coordinator would make that a table of Citus too, and all that hang
-- on it. What these guard never goes away: merchants and plans are not deleted.
ALTER TABLE merchant DROP CONSTRAINT merchant_default_plan_id_fkey;
ALTER TABLE customer_private_plan DROP CONSTRAINT customer_private_plan_plan_id_fkey;
ALTER TABLE custom_pricing_unit DROP CONSTRAINT custom_pricing_unit_merchant_id_fkey;
ALTER TABLE plan DROP CONSTRAINT plan_merchant_id_fkey;
ALTER TABLE billable DROP CONSTRAINT billable_merchant_id_fkey;
ALTER TABLE billable_rules
  DROP CONSTRAINT billable_rules_merchant_id_fkey,
  DROP CONSTRAINT billable_rules_billable_id_fkey;
ALTER TABLE price
  DROP CONSTRAINT price_merchant_id_fkey,
  DROP CONSTRAINT price_plan_id_fkey,
  DROP CONSTRAINT price_billable_id_fkey,
  DROP CONSTRAINT price_custom_pricing_unit_id_fkey;
ALTER TABLE plan_allocation
  DROP CONSTRAINT plan_allocation_merchant_id_fkey,
  DROP CONSTRAINT plan_allocation_plan_id_fkey,
  DROP CONSTRAINT plan_allocation_custom_pricing_unit_id_fkey;

SELECT create_reference_table('custom_pricing_unit');
SELECT create_reference_table('plan');
SELECT create_reference_table('billable');
SELECT create_reference_table('billable_rules');
SELECT create_reference_table('price');
SELECT create_reference_table('plan_allocation');

-- Those within the catalogue are kept.
ALTER TABLE billable_rules ADD CONSTRAINT billable_rules_billable_id_fkey
  FOREIGN KEY (billable_id) REFERENCES billable (id);
ALTER TABLE price ADD CONSTRAINT price_plan_id_fkey
  FOREIGN KEY (plan_id) REFERENCES plan (id);
ALTER TABLE price ADD CONSTRAINT price_billable_id_fkey
  FOREIGN KEY (billable_id) REFERENCES billable (id);
ALTER TABLE price ADD CONSTRAINT price_custom_pricing_unit_id_fkey
  FOREIGN KEY (custom_pricing_unit_id) REFERENCES custom_pricing_unit (id);
ALTER TABLE plan_allocation ADD CONSTRAINT plan_allocation_plan_id_fkey
  FOREIGN KEY (plan_id) REFERENCES plan (id);
ALTER TABLE plan_allocation ADD CONSTRAINT plan_allocation_custom_pricing_unit_id_fkey
  FOREIGN KEY (custom_pricing_unit_id) REFERENCES custom_pricing_unit (id);

-- Keys of events ----------------------------------------------------------------------------------

-- By the key, not by the merchant, so that one large merchant's are on all nodes too.
SELECT create_distributed_table('event_key', 'key', colocate_with => 'none');

-- Events ------------------------------------------------------------------------------------------

-- Citus distributes parts, but not parts of parts.
ALTER TABLE event_chunk DETACH PARTITION event_chunk_other;
ALTER TABLE event_chunk_other RENAME TO event_chunk_of_years;
DROP INDEX event_chunk_other_first_at;
CREATE TABLE event_chunk_other (LIKE event_chunk INCLUDING CONSTRAINTS);
INSERT INTO event_chunk_other (merchant_id, customer_id, first_at, last_at, events, content)
SELECT merchant_id, customer_id, first_at, last_at, events, content FROM event_chunk_of_years;
DROP TABLE event_chunk_of_years;
ALTER TABLE event_chunk ATTACH PARTITION event_chunk_other DEFAULT;
CREATE INDEX event_chunk_other_first_at ON event_chunk_other (first_at);
SELECT event_chunk_tended('event_chunk_other');

SELECT create_distributed_table('event_chunk', 'merchant_id', colocate_with => 'none');

-- A primary key has to hold what the table is distributed by; behind the rest it is in nobody's way.
ALTER TABLE late_event
  DROP CONSTRAINT late_event_pkey,
  ADD PRIMARY KEY (subscription_id, period_index, key, merchant_id);
SELECT create_distributed_table('late_event', 'merchant_id', colocate_with => 'event_chunk');

ALTER TABLE usage_unique
  DROP CONSTRAINT usage_unique_pkey,
  ADD PRIMARY KEY (subscription_id, period_index, billable_id, value_hash, merchant_id);
SELECT create_distributed_table('usage_unique', 'merchant_id', colocate_with => 'event_chunk');

-- Citus copies the rows, and leaves those that it copied where nobody sees them any more.
SELECT truncate_local_data_after_distributing_table(t.name::regclass)
  FROM unnest(ARRAY['event_key', 'event_chunk', 'late_event', 'usage_unique']) AS t (name);
