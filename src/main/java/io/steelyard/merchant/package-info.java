/**
 * Merchants, their API keys and their clocks.
 *
 * <p>Words. A <em>merchant</em> is a tenant: every other row of the service belongs to exactly one.
 * Its <em>environment</em> says whether its money is real. An <em>API key</em> names its merchant;
 * a secret one may call the external API, a publishable one may not.
 *
 * <p>Invariants. A key's text is shown once, when it is made, and is neither stored nor logged:
 * what is stored is its SHA-256, which is enough for 256 random bits. When a key was last used is
 * written down every minute or so, never by a request. A revoked key is refused everywhere as soon
 * as its cached answers run out, and stays refused. Keys live in real time, also those of a
 * merchant whose clock stands still.
 *
 * <p>The clock of a test merchant may be set, and then stands still until it is set again, later;
 * it never goes back. A live merchant's clock is the system's. {@link
 * io.steelyard.merchant.MerchantClock} is the only place that asks.
 *
 * <p>Not owned here: what is due when a clock was set, the catalogue, gateway connections, and how
 * long an answer about a key may be cached.
 */
package io.steelyard.merchant;
