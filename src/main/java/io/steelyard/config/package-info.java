/**
 * The settings of the process.
 *
 * <p>A <i>setting</i> has a dotted name, e.g. {@code ingest.flushEventsMax}: the path through the
 * records of {@link io.steelyard.config.Config}, which are the only list of what exists. A
 * <i>layer</i> is one source of values; later layers win: the defaults in the jar, {@code
 * conf/config.json}, the file named by {@code STEELYARD_CONFIG}, the environment, the system
 * properties. The name in the environment follows from the dotted one.
 *
 * <p>Settings are read once, before anything starts. An unknown name, a wrong type or a value out
 * of its bounds stops the start with a {@link io.steelyard.config.ConfigException}: a line for each
 * fault, which names the setting, what is allowed and where the value came from. The value of a
 * setting marked secret appears in no message, no log and no {@code toString}.
 *
 * <p>{@link io.steelyard.config.StartFailure} is the same promise for everything else that can keep
 * the process from starting. This package does not own the reaction to it; {@code Main} does.
 */
package io.steelyard.config;
