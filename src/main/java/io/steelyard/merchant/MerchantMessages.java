package io.steelyard.merchant;

import io.steelyard.bus.Address;
import io.steelyard.bus.Call;
import io.steelyard.bus.Reply;
import io.steelyard.bus.Request;
import io.steelyard.domain.Environment;
import io.steelyard.domain.Id;
import io.steelyard.domain.KeyType;
import io.steelyard.domain.Paging;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;

/** What the merchant verticle may be asked: merchants, their keys and their clocks. */
public sealed interface MerchantMessages<R extends Reply> extends Request<R> {
  @Override
  default Address address() {
    return Address.MERCHANT;
  }

  /** Makes a merchant and its first secret key. The call carries no merchant. */
  record CreateMerchant(String name, Environment environment, ZoneId timezone)
      implements MerchantMessages<MerchantCreated> {}

  /** All merchants, by when they were made. The call carries no merchant. */
  record ListMerchants(Paging paging) implements MerchantMessages<MerchantPage> {}

  /** The merchant with this id, which may be any text. The call carries no merchant. */
  record FindMerchant(String id) implements MerchantMessages<FoundMerchant> {}

  /** Makes a further key for the call's merchant. */
  record CreateApiKey(KeyType type, String name) implements MerchantMessages<ApiKeyCreated> {}

  /** The keys of the call's merchant, also revoked ones, by when they were made. */
  record ListApiKeys(Paging paging) implements MerchantMessages<ApiKeyPage> {}

  /** Revokes a key of the call's merchant, and tells every node. */
  record RevokeApiKey(String keyId) implements MerchantMessages<ApiKeyRevoked> {}

  /**
   * Whose key this is. The call carries no merchant.
   *
   * @param keyHash SHA-256 of the key as sent
   */
  record Authenticate(byte[] keyHash) implements MerchantMessages<Authenticated> {
    @Override
    public boolean equals(Object other) {
      return other instanceof Authenticate that && Arrays.equals(keyHash, that.keyHash);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(keyHash);
    }
  }

  /** Sets the clock of the call's merchant, which must be a test merchant, forwards. */
  record SetClock(Instant now) implements MerchantMessages<ClockSet> {}

  record ApiKeyView(Id id, KeyType type, String key) {
    /** Without the key, for logs. */
    @Override
    public String toString() {
      return "ApiKeyView[id=" + id + ", type=" + type + "]";
    }
  }

  record MerchantCreated(
      Id id, String name, Environment environment, ZoneId timezone, ApiKeyView apiKey)
      implements Reply {
    @Override
    public boolean showsSecret() {
      return true;
    }
  }

  record FoundMerchant(Call.Merchant merchant) implements Reply {}

  record MerchantView(
      Id id, String name, Environment environment, ZoneId timezone, Instant createdAt) {}

  record MerchantPage(List<MerchantView> results, long count, long pages, long currentPage)
      implements Reply {
    public MerchantPage {
      results = List.copyOf(results);
    }
  }

  /**
   * @param key shown this once; only its hash is stored
   */
  record ApiKeyCreated(Id id, KeyType type, String name, String key, Instant createdAt)
      implements Reply {
    @Override
    public boolean showsSecret() {
      return true;
    }

    /** Without the key, for logs. */
    @Override
    public String toString() {
      return "ApiKeyCreated[id=" + id + ", type=" + type + "]";
    }
  }

  /**
   * A key without its text, which nobody knows any more.
   *
   * @param name null where none was given
   * @param revokedAt null while it is good
   * @param lastUsedAt null if it never was; else exact to {@code keys.lastUseMs}
   */
  record ApiKeySummary(
      Id id, KeyType type, String name, Instant createdAt, Instant revokedAt, Instant lastUsedAt) {}

  record ApiKeyPage(List<ApiKeySummary> results, long count, long pages, long currentPage)
      implements Reply {
    public ApiKeyPage {
      results = List.copyOf(results);
    }
  }

  record ApiKeyRevoked(Id id) implements Reply {}

  /**
   * @param merchant null when no unrevoked key has that hash
   */
  record Authenticated(Call.Merchant merchant, Id keyId, KeyType type) implements Reply {}

  record ClockSet(Instant now) implements Reply {}
}
