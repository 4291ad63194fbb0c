/**
 * The catalogue: what a merchant sells and how it is priced.
 *
 * <p>Words. A <em>custom pricing unit</em> is a currency of the merchant's own, such as credits. A
 * <em>billable</em> is a metered feature; its event rules say which usage events count and how. A
 * <em>plan</em> is what a customer subscribes to: at most one <em>base price</em> per cadence,
 * <em>usage prices</em> of billables, and <em>allocations</em> of units granted each period.
 *
 * <p>The merchant writes all of it as one document, applied whole. Units, billables and plans are
 * known by key, slug and externalId; they are changed in place, archived when the document no
 * longer names them, and revived under the same id when it names them again. Prices, allocations
 * and the event rules of billables are never changed: one that differs ends, and a new one starts
 * at the same instant, so that every period already opened stays counted and rated as it was. Only
 * their position among their siblings moves.
 *
 * <p>Invariants. At any instant a plan has at most one base price per cadence, one usage price per
 * billable and cadence, and one allocation per unit. An available plan names only available units
 * and billables. An archived plan keeps its prices: its subscriptions go on being billed. Applying
 * a document twice, or applying what was exported, changes nothing.
 *
 * <p>Not owned here: who is subscribed to what, usage, and the arithmetic of prices ({@code
 * domain.Rating}).
 */
package io.steelyard.catalog;
