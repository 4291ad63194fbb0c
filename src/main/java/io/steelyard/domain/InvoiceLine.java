package io.steelyard.domain;

import java.math.BigDecimal;
import java.time.Instant;

/**
 * One line of an invoice before it has ids.
 *
 * @param exactAmount before rounding
 * @param amount rounded to the cent
 * @param end exclusive
 */
public record InvoiceLine(
    PriceTerms price,
    String description,
    BigDecimal quantity,
    BigDecimal unitPrice,
    BigDecimal exactAmount,
    BigDecimal amount,
    Instant start,
    Instant end) {}
