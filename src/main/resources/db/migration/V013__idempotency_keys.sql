-- What requests with an Idempotency-Key were answered, for 24 hours. Written in the transaction of the
-- effect, so that there is neither without the other.
CREATE TABLE idempotency_key (
  merchant_id   uuid        NOT NULL, -- all zeros: requests of the operator for no merchant
  id            uuid        NOT NULL, -- of the endpoint and the key as sent
  request       uuid        NOT NULL, -- of all else of the request: the same key with another is refused
  answer        bytea,                -- JSON as it was sent, or that sealed; null while a gateway is asked
  sealed        boolean     NOT NULL,
  attempt       uuid,                 -- under which the gateway is asked, however often
  claimed_until timestamptz,          -- who asks the gateway does so until then at the latest
  expires_at    timestamptz NOT NULL,
  PRIMARY KEY (merchant_id, id),
  CHECK (answer IS NOT NULL OR (attempt IS NOT NULL AND claimed_until IS NOT NULL))
);

CREATE INDEX idempotency_key_expires_at ON idempotency_key (expires_at);
