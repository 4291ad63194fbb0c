package io.steelyard.domain;

import java.math.BigDecimal;
import java.time.Instant;

/**
 * One line of an invoice before it has ids.
 *
 * @param periodIndex of the period that is charged
 * @param exactAmount before it was rounded to the cent; 34 digits of one that has no end
 * @param amount rounded to the cent
 * @param end exclusive
 */
public record InvoiceLine(
    LineKind kind,
    int periodIndex,
    PriceTerms price,
    String description,
    BigDecimal quantity,
    BigDecimal unitPrice,
    BigDecimal exactAmount,
    BigDecimal amount,
    Instant start,
    Instant end) {}
