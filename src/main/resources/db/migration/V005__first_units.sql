-- What the first version allocated, in the terms of those that came after it.

-- Units for longer than the subscription's first period ended with it. The next ones come when
-- their own time is over, and a customer would have none until then. What has expired on the ledger
-- stays so.
UPDATE allocation_block b
   SET expires_at = least(s.end_date,
         ((b.effective_at AT TIME ZONE m.timezone)
           + CASE a.billing_cadence WHEN 'quarterly' THEN interval '3 months'
                                    ELSE interval '1 year' END) AT TIME ZONE m.timezone)
  FROM subscription s
  JOIN subscription_period p ON p.subscription_id = s.id AND p.period_index = 0
  JOIN merchant m ON m.id = s.merchant_id
  JOIN plan_allocation a ON a.plan_id = s.plan_id AND a.active_from <= p.opened_at
   AND (a.active_until IS NULL OR a.active_until > p.opened_at)
 WHERE b.subscription_id = s.id AND b.custom_pricing_unit_id = a.custom_pricing_unit_id
   AND b.origin = 'plan' AND b.effective_at = s.start_date AND b.expires_at = p.period_end
   AND s.trial_end IS NULL
   AND (s.billing_cadence = 'monthly' AND a.billing_cadence IN ('quarterly', 'annually')
        OR s.billing_cadence = 'quarterly' AND a.billing_cadence = 'annually')
   AND NOT EXISTS (SELECT FROM credit_transaction t
                    WHERE t.allocation_block_id = b.id AND t.type = 'expiration');

-- None of them said how many may live on.
UPDATE allocation_block b
   SET rollover_max = a.rollover_max
  FROM subscription_period p
  JOIN plan_allocation a ON a.plan_id = p.plan_id AND a.active_from <= p.opened_at
   AND (a.active_until IS NULL OR a.active_until > p.opened_at)
 WHERE b.subscription_id = p.subscription_id AND b.period_index = p.period_index
   AND b.custom_pricing_unit_id = a.custom_pricing_unit_id
   AND b.origin = 'plan' AND b.rollover_max IS NULL AND b.remaining > 0 AND a.rollover_max > 0;

-- Within a trial, too, units may be allocated more than once.
UPDATE subscription s
   SET due_at = p.period_start + interval '1 ms'
  FROM subscription_period p
 WHERE p.subscription_id = s.id AND p.period_index = 0 AND p.is_trial
   AND s.status = 'active' AND s.billing_cadence = 'monthly' AND s.period_index = 0
   AND s.due_at = p.period_end
   AND NOT EXISTS (SELECT FROM allocation_block b
                    WHERE b.subscription_id = s.id AND b.effective_at > s.start_date);
