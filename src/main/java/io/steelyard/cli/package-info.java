/**
 * The command line in the jar.
 *
 * <p>{@code run} is the service itself, {@code migrate} and {@code check-config} need none. Every
 * other command is a client of the <i>operator API</i> of a running service: what is checked, who
 * is told of a revoked key, and what commits together is then the same for all callers, and a
 * command needs neither the database's password nor a data directory that the service holds.
 *
 * <p>Answers go to stdout, for people or with {@code --json} as JSON; refusals and the log to
 * stderr. The operator's token is never an argument, since a list of processes shows these: it
 * comes from the configuration, from a file, or from the <i>note</i> that a service with an
 * embedded database leaves in its data directory. Exit codes: 0 done, 1 not done or something was
 * found, 2 the command line cannot be understood.
 *
 * <p>Knows no feature, and only the process knows it.
 */
package io.steelyard.cli;
