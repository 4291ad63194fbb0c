/**
 * JSON in both directions, and its contract.
 *
 * <p>Words. A <em>body</em> is what somebody else sent: untrusted bytes. {@code StrictJson} reads
 * it into a <em>tree</em> of maps, lists, texts, numbers, booleans and nulls. A <em>document</em>
 * is one of the two OpenAPI descriptions of this service; its component schemas say what a tree may
 * look like. {@code Schemas} holds a document, a {@code Validator} checks trees against it. A
 * <em>fault</em> is one thing wrong in a body: a JSON pointer, a stable code, and a sentence.
 *
 * <p>Invariants. A tree never holds a rounded number, a lone surrogate or U+0000, two values under
 * one key, or more depth, text or values than the limits allow. Every fault of a body is named,
 * once. Whether a tree fits a schema is vertx-json-schema's decision; only the naming of what it
 * found is ours. The documents a client reads and the schemas that bodies are checked with are the
 * same text, so they cannot drift apart.
 *
 * <p>Not owned here: the decoding of usage events, which is too hot for schemas; what a well-formed
 * body means; and how a fault becomes an HTTP answer.
 */
package io.steelyard.json;
