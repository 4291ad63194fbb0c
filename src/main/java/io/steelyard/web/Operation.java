package io.steelyard.web;

import io.vertx.core.Future;

/** What an endpoint does with a request that was let in and read. */
@FunctionalInterface
public interface Operation {
  Future<Answer> handle(Exchange exchange);
}
