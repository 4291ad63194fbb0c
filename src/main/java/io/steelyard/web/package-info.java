/**
 * What both HTTP ports share: a server with limits on everything ({@link
 * io.steelyard.web.WebServer}), the steps that each request takes ({@link io.steelyard.web.Api}),
 * how it is let in ({@link io.steelyard.web.Admission}), what of them one merchant may have under
 * way ({@link io.steelyard.web.MerchantShares}) and how what is more waits ({@link
 * io.steelyard.web.PlaceLine}), strict reading of bodies and parameters, and the one mapping of
 * failures to statuses ({@link io.steelyard.web.Problems}).
 *
 * <p>Not owned here: any path. Those are in {@code http} and {@code operator}.
 */
package io.steelyard.web;
