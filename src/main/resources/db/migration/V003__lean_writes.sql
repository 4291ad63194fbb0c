-- Half of what new rows cost were foreign keys to rows that never go away, checked one by one, and
-- each check writes to the row it finds, the same few for all of a merchant. Kept is the one to the
-- row that each hangs on; that the others are there and of the same merchant is looked at by the
-- integrity check.
ALTER TABLE customer DROP CONSTRAINT customer_merchant_id_fkey;
ALTER TABLE subscription
  DROP CONSTRAINT subscription_merchant_id_fkey,
  DROP CONSTRAINT subscription_plan_id_fkey;
ALTER TABLE subscription_period
  DROP CONSTRAINT subscription_period_merchant_id_fkey,
  DROP CONSTRAINT subscription_period_customer_id_fkey,
  DROP CONSTRAINT subscription_period_plan_id_fkey;
ALTER TABLE billable_access
  DROP CONSTRAINT billable_access_merchant_id_fkey,
  DROP CONSTRAINT billable_access_customer_id_fkey,
  DROP CONSTRAINT billable_access_billable_id_fkey;
ALTER TABLE invoice
  DROP CONSTRAINT invoice_merchant_id_fkey,
  DROP CONSTRAINT invoice_customer_id_fkey;
ALTER TABLE invoice_line_item
  DROP CONSTRAINT invoice_line_item_merchant_id_fkey,
  DROP CONSTRAINT invoice_line_item_price_id_fkey;
ALTER TABLE allocation_block
  DROP CONSTRAINT allocation_block_merchant_id_fkey,
  DROP CONSTRAINT allocation_block_custom_pricing_unit_id_fkey,
  DROP CONSTRAINT allocation_block_subscription_id_fkey,
  DROP CONSTRAINT allocation_block_invoice_id_fkey;
ALTER TABLE credit_transaction
  DROP CONSTRAINT credit_transaction_merchant_id_fkey,
  DROP CONSTRAINT credit_transaction_customer_id_fkey,
  DROP CONSTRAINT credit_transaction_billable_id_fkey;
ALTER TABLE credit_usage DROP CONSTRAINT credit_usage_price_id_fkey;
ALTER TABLE outbox DROP CONSTRAINT outbox_merchant_id_fkey;

-- What a plan's next block takes over: looked for at each allocation, there for few.
CREATE INDEX allocation_block_rollover
  ON allocation_block (subscription_id, custom_pricing_unit_id, expires_at)
  WHERE origin = 'plan' AND rollover_max > 0 AND remaining > 0;

-- For those that have waited longest, however many wait.
DROP INDEX subscription_period_not_ready;
CREATE INDEX subscription_period_not_ready ON subscription_period (opened_at)
  WHERE ready_until < period_end;
