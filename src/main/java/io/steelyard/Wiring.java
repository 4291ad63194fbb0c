package io.steelyard;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.steelyard.bus.Bus;
import io.steelyard.bus.ServiceVerticle;
import io.steelyard.cluster.ClusterState;
import io.steelyard.config.Config;
import io.steelyard.db.Pools;
import io.vertx.core.Vertx;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * What verticles are made of.
 *
 * @param config the effective one: secrets that the start made are in it
 * @param ready whether requests should come here: everything is up and no stop has begun
 * @param cluster how this node of a cluster is; empty where it is in none
 * @param publicUrl how a customer's browser reaches the external API; known once HTTP listens
 * @param listening told the entry's name and the port that it really listens on
 */
record Wiring(
    Vertx vertx,
    Config config,
    Pools pools,
    PrometheusMeterRegistry metrics,
    ServiceVerticle.Settings settings,
    Bus bus,
    BooleanSupplier ready,
    Supplier<Optional<ClusterState>> cluster,
    BiConsumer<String, Integer> listening,
    Supplier<String> publicUrl) {}
