package io.steelyard.web;

import io.steelyard.bus.Call;
import io.steelyard.bus.Failure.Fault;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One request that was let in, with everything an operation needs of it. */
public final class Exchange {
  private final Arrival arrival;
  private final Call call;
  private final Buffer body;
  private final Object tree;
  private final Map<String, String> path = new LinkedHashMap<>();
  private final Query query;

  /**
   * @param tree the JSON body as maps, lists and values, for endpoints that read JSON
   */
  Exchange(Arrival arrival, Call call, Buffer body, Object tree) {
    this.arrival = arrival;
    this.call = call;
    this.body = body;
    this.tree = tree;
    List<Fault> faults = new ArrayList<>();
    for (int i = 0; i < arrival.parameters().size(); i++) {
      readPath(arrival.parameters().get(i), arrival.values()[i], faults);
    }
    this.query = new Query(arrival.request().query(), faults);
  }

  private void readPath(String name, String raw, List<Fault> faults) {
    Optional<String> value = Percent.decode(raw, false);
    if (value.isEmpty()) {
      faults.add(Fault.parameter(name, "encoding", "Must be percent-encoded UTF-8."));
    } else if (value.get().isEmpty()) {
      faults.add(Fault.parameter(name, "min_length", "Must not be empty."));
    }
    path.put(name, value.orElse(""));
  }

  public Call call() {
    return call;
  }

  /** The call on behalf of a merchant that was found only now, e.g. by the path. */
  public Call of(Call.Merchant merchant) {
    arrival.isOf(merchant.id());
    return call.forMerchant(merchant);
  }

  public HttpServerRequest request() {
    return arrival.request();
  }

  /** The decoded value of a path parameter. */
  public String path(String name) {
    return path.get(name);
  }

  public Query query() {
    return query;
  }

  /** The body's bytes, inflated. */
  public Buffer body() {
    return body;
  }

  /** The JSON body as a tree. */
  public Object tree() {
    return tree;
  }
}
