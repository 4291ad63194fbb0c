package io.steelyard.cluster;

import java.util.List;

/**
 * How a node of a cluster is.
 *
 * @param joined whether it is one: not before, and no more when it was put out or has left
 * @param members that it knows of, itself included
 * @param unanswered addresses whose requests no node answers now
 */
public record ClusterState(boolean joined, int members, List<String> unanswered) {}
