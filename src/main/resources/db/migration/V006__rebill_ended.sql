-- ended: whether its subscription has, so that the correction comes to no further boundary and must
-- have an invoice of its own. All others wait for their next invoice, and the clockwork, which asks
-- all the time, need not look at them.
ALTER TABLE rebill ADD ended boolean NOT NULL DEFAULT false;
UPDATE rebill r SET ended = true
  FROM subscription s
 WHERE s.merchant_id = r.merchant_id AND s.id = r.subscription_id
   AND s.status IN ('ended', 'deleted');
ALTER TABLE rebill ALTER ended DROP DEFAULT;

DROP INDEX rebill_since;
CREATE INDEX rebill_ended ON rebill (merchant_id, since) WHERE ended;
