package io.steelyard.catalog;

import io.steelyard.domain.Id;

/** A custom pricing unit and how it is called. */
public record UnitTerms(Id id, String displayName, String displayNameSingular, String shortName) {}
